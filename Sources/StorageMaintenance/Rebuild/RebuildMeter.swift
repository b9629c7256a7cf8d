internal import Synchronization

/// Counts what a rebuild has done, and reports it.
///
/// Isolation: `Sendable`, its numbers behind a mutex; tables that are filled at the same time report to it.
final class RebuildMeter: Sendable {
    private struct State {
        var phase = RebuildProgress.Phase.reading
        var positions: [UInt32: Int64] = [:]
        var head: Int64 = 0
        /// The position at which reading began, and the time.
        var begun: Int64 = 0
        var began = ContinuousClock.now

        /// The log is read once for all tables, so the mean of their positions is the progress.
        var completed: Int64 {
            positions.isEmpty ? head : positions.values.reduce(0, +) / Int64(positions.count)
        }
    }

    private let state = Mutex(State())
    private let started = ContinuousClock.now
    private let report: @Sendable (RebuildProgress) -> Void

    init(_ report: @escaping @Sendable (RebuildProgress) -> Void) { self.report = report }

    /// - Parameter positions: The position that each table has reached already.
    func start(_ positions: [UInt32: Int64], head: Int64) {
        change { state in
            (state.phase, state.positions, state.head) = (.reading, positions, head)
            (state.begun, state.began) = (state.completed, .now)
        }
    }

    func update(_ entity: UInt32, _ position: Int64) { change { $0.positions[entity] = position } }

    func update(_ positions: [UInt32: Int64], head: Int64? = nil) {
        change { ($0.phase, $0.positions, $0.head) = (.reading, positions, head ?? $0.head) }
    }

    func enter(_ phase: RebuildProgress.Phase) { change { $0.phase = phase } }

    private func change(_ body: (inout State) -> Void) {
        let state = state.withLock { state in
            body(&state)
            return state
        }
        let now = ContinuousClock.now
        let reading = (now - state.began) / .seconds(1)
        let done = state.completed - state.begun
        report(
            RebuildProgress(
                phase: state.phase, completed: state.completed, total: state.head, elapsed: now - started,
                eventsPerSecond: done > 0 && reading > 0 ? Double(done) / reading : nil))
    }
}
