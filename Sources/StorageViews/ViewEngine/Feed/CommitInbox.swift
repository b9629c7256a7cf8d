package import StorageLog
internal import StorageRouting
internal import Synchronization

/// Collects commits until the engine processes them, as far as they affect it.
///
/// Isolation: `Sendable`, its state behind a mutex; it is filled on the writer's queue, where it must be quick.
package final class CommitInbox: Sendable {
    /// A range of positions with wanted events.
    enum Part {
        case batch(EventBatch)
        /// To be read from the log.
        case unread(ClosedRange<Int64>)
    }

    fileprivate struct State {
        var interest: Set<UInt32> = []
        var parts: [Part] = []
        /// The range in which the parts include every wanted commit, except those that the filter has skipped.
        var known: ClosedRange<Int64>?
        /// Whether commits that may affect the engine have come since the last step began, and whether it was woken for
        /// them.
        var hasPending = false
        var isCalled = false
    }

    private let state = Mutex(State())
    private let commitFilter: CommitFilter
    private let wake: @Sendable () -> Void
    /// The most parts that are kept; beyond that, they are read from the log instead.
    private static let partLimit = 256

    /// - Parameters:
    ///   - commitFilter: Determines which transactions affect no subscription.
    ///   - wake: Called after a commit, and not again until ``rearm()`` was called.
    init(_ commitFilter: CommitFilter, wake: @escaping @Sendable () -> Void) {
        self.commitFilter = commitFilter
        self.wake = wake
    }

    /// Whether commits that may affect the engine have come since the last step began.
    var hasPending: Bool { state.withLock { $0.hasPending } }

    func setInterest(_ entities: Set<UInt32>) { state.withLock { $0.interest = entities } }

    /// Adds a transaction of this process, on the writer's queue. It doesn't wake the engine: ``ring(hasCommits:)``
    /// does, after the writer has answered.
    package func take(_ events: CommittedEvents) {
        guard events.view.count > 0 else { return }
        commitFilter.note(events)
        state.withLock { state in
            let positions = events.first...events.last
            let isNext = state.known.map { $0.upperBound + 1 == positions.lowerBound } ?? true
            if !isNext { state.parts.removeAll() }
            state.known = isNext ? (state.known?.lowerBound ?? positions.lowerBound)...positions.upperBound : positions
            guard events.concerns(state.interest.contains) else { return }
            // If parts are pending already, the engine is woken anyhow, and reads this one together with them.
            guard !state.parts.isEmpty || commitFilter.mayConcern(events, wanted: state.interest) else { return }
            if state.parts.count >= Self.partLimit {
                state.parts = [.unread((state.known?.lowerBound ?? positions.lowerBound)...positions.upperBound)]
            } else {
                state.parts.append(
                    events.batch(where: state.interest.contains).map { .batch($0) } ?? .unread(positions))
            }
            state.hasPending = true
        }
    }

    /// Wakes the engine if there are commits that it wasn't woken for.
    ///
    /// - Parameter hasCommits: Whether there may be commits that weren't added here.
    package func ring(hasCommits: Bool) {
        let wakes = state.withLock { state in
            if hasCommits { state.hasPending = true }
            guard state.hasPending, !state.isCalled else { return false }
            state.isCalled = true
            return true
        }
        if wakes { wake() }
    }

    /// Call before processing commits: new ones wake the engine again afterwards.
    func rearm() { state.withLock { ($0.hasPending, $0.isCalled) = (false, false) } }

    /// The wanted ranges of `positions`, in order, and forgets everything up to their end.
    func take(_ positions: ClosedRange<Int64>) -> [Part] {
        state.withLock { state in
            guard let known = state.known, known.overlaps(positions) else { return [.unread(positions)] }
            var taken: [Part] = []
            if positions.lowerBound < known.lowerBound {
                taken.append(.unread(positions.lowerBound...(known.lowerBound - 1)))
            }
            let end = state.parts.firstIndex { $0.positions.lowerBound > positions.upperBound } ?? state.parts.count
            taken += state.parts[..<end].compactMap { $0.clipped(to: positions) }
            // Of what is read from the log, there may be more behind the state.
            let last = state.parts[..<end].last?.positions.upperBound ?? 0
            state.parts.removeFirst(end)
            if last > positions.upperBound { state.parts.insert(.unread(positions.upperBound + 1...last), at: 0) }
            if positions.upperBound < known.upperBound {
                state.known = (positions.upperBound + 1)...known.upperBound
            } else {
                state.known = nil
                if positions.upperBound > known.upperBound {
                    taken.append(.unread((known.upperBound + 1)...positions.upperBound))
                }
            }
            return taken
        }
    }

    /// Marks everything after `position` to be read from the log, also what the filter has skipped, and wakes the
    /// engine.
    func readAgain(after position: Int64) {
        state.withLock { state in
            guard let known = state.known, known.upperBound > position else { return }
            state.parts.removeAll { $0.positions.lowerBound > position }
            state.parts.append(.unread(max(known.lowerBound, position + 1)...known.upperBound))
            state.hasPending = true
        }
        ring(hasCommits: false)
    }

    func removeAll() {
        state.withLock { state in
            state.parts.removeAll()
            state.known = nil
        }
    }
}

extension CommitInbox.Part {
    var positions: ClosedRange<Int64> {
        switch self {
        case .batch(let batch): batch.positions
        case .unread(let positions): positions
        }
    }

    /// The part inside `positions`: a batch is one transaction, and a state includes all of it or nothing.
    fileprivate func clipped(to positions: ClosedRange<Int64>) -> CommitInbox.Part? {
        guard self.positions.overlaps(positions) else { return nil }
        if case .unread(let own) = self { return .unread(own.clamped(to: positions)) }
        return self
    }
}
