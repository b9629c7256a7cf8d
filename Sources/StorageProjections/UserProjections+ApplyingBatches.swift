internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog

extension UserProjections {
    /// Applies the next part of the log, in a transaction of its own.
    ///
    /// - Throws: ``ProjectionBatchError`` if the projection threw; nothing is changed then.
    func step(
        _ slot: Slot, limits: BatchLimits, on writer: LogWriter, _ db: GRDB.Database
    ) throws -> BatchOutcome {
        guard let checkpoint = try Checkpoint.load(slot.name, writer.database) else { return BatchOutcome() }
        guard checkpoint.state == .running else { return BatchOutcome(checkpoint: checkpoint) }
        guard checkpoint.position < writer.head.position else {
            slot.cache = nil
            return BatchOutcome(checkpoint: checkpoint)
        }
        return try writer.group(db) { try applyNext(slot, limits: limits, on: writer, through: writer.head.position) }
    }

    func applyNext(
        _ slot: Slot, limits: BatchLimits, on writer: LogWriter, through head: Int64
    ) throws -> BatchOutcome {
        guard var checkpoint = try Checkpoint.load(slot.name, writer.database) else { return BatchOutcome() }
        let first = checkpoint.position + 1
        guard first <= head else { return BatchOutcome(checkpoint: checkpoint) }
        // Caching rows pays off only if more than one batch is left to apply.
        if head - checkpoint.position > Int64(slot.registration.batchSize), slot.cache == nil {
            slot.cache = try RowStateCache()
        }
        var outcome = BatchOutcome()
        let started = ContinuousClock.now
        let wanted = wanted(slot, writer.catalog)
        var limits = limits
        limits.border = checkpoint.replayed
        var feed = BatchFeed(first: first, limits: limits)
        let replayed = checkpoint.replayed
        // Everything before it is history, or in what is emitted.
        var reported = max(first, replayed + 1)
        let end = try feed.run(LogReader(writer.database), through: head, of: wanted) { slice in
            let applied: [RowEvent]
            do {
                let isReplay = slice.events[0].position <= replayed
                applied = try run(slot, on: slice, isReplay: isReplay, isBehind: true, with: writer)
            } catch {
                guard !error.isStoreOrDiskFailure else { throw error }
                throw ProjectionBatchError(cause: error, positions: slice.positions)
            }
            outcome.events += applied.count
            guard slot.hasSideEffects, slice.positions.lowerBound >= reported else { return }
            outcome.emitted += AppliedRange.ranges(of: applied, among: slice.events, in: slice.positions)
            reported = slice.positions.upperBound + 1
        }
        if slot.hasSideEffects, reported <= end {
            outcome.emitted.append(AppliedRange(reported...end, hasEvents: false))
        }
        checkpoint.position = end
        checkpoint.count(outcome.events, since: started, on: writer)
        checkpoint.error = nil
        checkpoint.failed = nil
        try checkpoint.save(slot.name, writer)
        outcome.checkpoint = checkpoint
        return outcome
    }

    /// Changes what is said of a projection, in a transaction of its own.
    func change(
        _ name: String, on writer: LogWriter, _ db: GRDB.Database, by body: (inout Checkpoint) -> Void
    ) throws -> Checkpoint {
        try writer.group(db) {
            guard var checkpoint = try Checkpoint.load(name, writer.database) else {
                throw StorageError.noProjection(name)
            }
            body(&checkpoint)
            try checkpoint.save(name, writer)
            return checkpoint
        }
    }
}
