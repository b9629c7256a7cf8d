internal import StorageLog
internal import StorageRouting

// The events of a step, folded to one change for each row.

extension SubscriptionEngine {
    /// The most events of a step that nodes apply one by one: beyond that, affected nodes are reloaded.
    private static let eventLimit = 20_000
    /// The most events that are routed: beyond that, finding the affected nodes costs more than reloading, so every
    /// node whose entity has events counts as affected.
    private static let routingLimit = 1_000_000

    /// Folds the wanted events into changes.
    ///
    /// - Returns: The affected nodes, where there are too many changes to apply one by one; nil otherwise.
    func fold(
        _ parts: [CommitInbox.Part], of log: LogReader, in snapshot: Snapshot, keeping batches: inout [EventBatch]
    ) throws -> Set<Int>? {
        var concerned = AffectedSubscriptions()
        var count = 0
        var folded = 0
        let wanted = commitFilter.withRouter { router in
            router.empty(changes)
            return router.entities
        }
        // A segment needn't be read if every node that it could affect is already known to be affected.
        func isNeeded(_ header: SegmentHeader) -> Bool {
            let entities = wanted.filter { header.entities.contains($0) && !concerned.entities.contains($0) }
            guard count > Self.routingLimit else { return !entities.isEmpty }
            concerned.entities.formUnion(entities)
            return false
        }
        try forEachRun(of: parts, in: log, where: isNeeded) { batch, events in
            let first = batch.header.first
            if folded + events.count > Self.eventLimit {
                note(&concerned, snapshot)
                batches.removeAll()
                folded = 0
            }
            count += events.count
            folded += events.count
            batches.append(batch)
            batch.withView { changes.add($0, events, first: first) }
        }
        guard count > Self.eventLimit else {
            changes.finish()
            return nil
        }
        note(&concerned, snapshot)
        return Set(slots.filter { $1.registrations.contains { concerned.contains($0.token) } }.map(\.key))
    }

    /// Notes the subscriptions that the folded changes affect, and empties the fold.
    private func note(_ concerned: inout AffectedSubscriptions, _ snapshot: Snapshot) {
        changes.finish()
        commitFilter.withRouter { router in
            router.note(changes, rows: snapshot.current, &concerned)
            work.router = router.counters
            router.empty(changes)
        }
    }

    /// Calls `body` with events that are wanted, in order, a limited number at a time; there may be others among them.
    private func forEachRun(
        of parts: [CommitInbox.Part], in log: LogReader, where isNeeded: (SegmentHeader) -> Bool,
        _ body: (EventBatch, Range<Int>) throws -> Void
    ) throws {
        for part in parts {
            switch part {
            case .batch(let batch):
                for start in stride(from: 0, to: batch.count, by: Self.eventLimit) {
                    try body(batch, start..<min(batch.count, start + Self.eventLimit))
                }
            case .unread(let positions):
                try log.forEachBatch(in: positions, where: isNeeded) { batch in
                    let first = batch.header.first
                    let events = positions.clamped(to: batch.positions)
                    try body(batch, Int(events.lowerBound - first)..<Int(events.upperBound - first) + 1)
                    return true
                }
            }
        }
    }
}
