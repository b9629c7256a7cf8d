internal import GRDB
internal import StorageCore
internal import StorageHistory
internal import StorageLog

/// What follows where a projection throws: the batch commit by commit, retries, and dead letters event by event.
extension UserProjections {
    /// Applies the log up to a position, step after step, and follows the projection's policies when it throws. Retries
    /// are immediate, because commits wait meanwhile.
    ///
    /// - Parameter step: Runs one step, which is applied as a whole or, if it throws, not at all.
    /// - Returns: The events for a ``SideEffectingProjection``.
    /// - Throws: ``ProjectionBatchError`` if the policy is to pause.
    func catchUp(
        _ slot: Slot, through goal: Int64, on writer: LogWriter,
        step: (() throws -> BatchOutcome) throws -> BatchOutcome
    ) throws -> [AppliedRange] {
        let size = slot.registration.batchSize
        var emitted: [AppliedRange] = []
        // Behind a batch that failed, commits are applied one by one until it is passed.
        var singleThrough: Int64 = 0
        var attempts = 0
        while let checkpoint = try Checkpoint.load(slot.name, writer.database), checkpoint.state == .running,
            checkpoint.position < goal
        {
            let isSingle = checkpoint.position < singleThrough
            do {
                let limits = BatchLimits(events: size, slice: size, isSingle: isSingle)
                emitted += try step { try applyNext(slot, limits: limits, on: writer, through: goal) }.emitted
                attempts = 0
            } catch let failure as ProjectionBatchError {
                if !isSingle, singleThrough < failure.positions.upperBound {
                    singleThrough = failure.positions.upperBound
                    continue
                }
                let policy = slot.registration.policy(isReplay: failure.positions.lowerBound <= checkpoint.replayed)
                attempts += 1
                if attempts <= policy.retries { continue }
                guard policy.outcome == .deadLetter else { throw failure }
                attempts = 0
                emitted += try step { try applyNextWithDeadLetters(slot, on: writer, through: goal) }.emitted
            }
        }
        return emitted
    }

    /// Applies the next commit event by event, and keeps those as dead letters that the projection can't apply.
    func stepWithDeadLetters(
        _ slot: Slot, on writer: LogWriter, _ db: GRDB.Database
    ) throws -> BatchOutcome {
        try writer.group(db) { try applyNextWithDeadLetters(slot, on: writer, through: writer.head.position) }
    }

    private func applyNextWithDeadLetters(
        _ slot: Slot, on writer: LogWriter, through head: Int64
    ) throws -> BatchOutcome {
        guard var checkpoint = try Checkpoint.load(slot.name, writer.database) else { return BatchOutcome() }
        var outcome = BatchOutcome()
        let wanted = wanted(slot, writer.catalog)
        let limits = BatchLimits(events: 1, slice: slot.registration.batchSize, isSingle: true)
        var feed = BatchFeed(first: checkpoint.position + 1, limits: limits)
        let started = ContinuousClock.now
        let end = try feed.run(LogReader(writer.database), through: head, of: wanted) { slice in
            for event in slice.events {
                let isReplay = event.position <= checkpoint.replayed
                switch try attempt(event, by: slot, isReplay: isReplay, on: writer) {
                case .failure(let error): try storeDeadLetter(event, of: slot, error: "\(error)", on: writer)
                case .success(let applied):
                    outcome.events += applied.count
                    if !isReplay {
                        outcome.emitted += applied.map { AppliedRange($0.position...$0.position, hasEvents: true) }
                    }
                }
            }
        }
        checkpoint.position = end
        checkpoint.count(outcome.events, since: started, on: writer)
        try checkpoint.save(slot.name, writer)
        outcome.checkpoint = checkpoint
        return outcome
    }

    /// Applies one event, alone in a savepoint.
    ///
    /// - Returns: The applied events, or the error; the event isn't applied then.
    func attempt(
        _ event: RowEvent, by slot: Slot, isReplay: Bool, on writer: LogWriter
    ) throws -> Result<[RowEvent], any Error> {
        do {
            return .success(
                try writer.inSavepoint {
                    try run(slot, on: EventSlice(event), isReplay: isReplay, isBehind: true, with: writer)
                })
        } catch {
            guard !error.isStoreOrDiskFailure else { throw error }
            return .failure(error)
        }
    }
}
