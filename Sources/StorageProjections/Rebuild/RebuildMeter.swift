internal import Synchronization

/// Counts what a rebuild has done, and tells of it.
///
/// Isolation: `Sendable`, its numbers behind a mutex; tables that are filled at the same time report to it.
final class RebuildMeter: Sendable {
    private struct State {
        var phase = RebuildProgress.Phase.reading
        var positions: [UInt32: Int64] = [:]
        var head: Int64 = 0
    }

    private let state = Mutex(State())
    private let started = ContinuousClock.now
    private let tell: @Sendable (RebuildProgress) -> Void

    init(_ tell: @escaping @Sendable (RebuildProgress) -> Void) { self.tell = tell }

    func start(_ positions: [UInt32: Int64], head: Int64) { update(positions, head: head) }

    func update(_ entity: UInt32, _ position: Int64) { change { $0.positions[entity] = position } }

    func update(_ positions: [UInt32: Int64], head: Int64) {
        change { state in
            state.phase = .reading
            state.positions = positions
            state.head = head
        }
    }

    func enter(_ phase: RebuildProgress.Phase) { change { $0.phase = phase } }

    private func change(_ body: (inout State) -> Void) {
        let (phase, completed, total) = state.withLock { state in
            body(&state)
            return (state.phase, state.positions.values.reduce(0, +), state.head * Int64(state.positions.count))
        }
        tell(
            RebuildProgress(
                phase: phase, completed: completed, total: total, elapsed: ContinuousClock.now - started))
    }
}
