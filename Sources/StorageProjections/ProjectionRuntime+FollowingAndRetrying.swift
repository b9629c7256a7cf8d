internal import GRDB
internal import StorageCore
internal import StorageLog
internal import Synchronization

extension ProjectionRuntime {
    /// Applies the log until its end, or until the projection stalls.
    func follow(_ registration: ProjectionRegistration) async {
        let name = registration.name
        // Behind a batch that failed, commits are applied one by one until it is passed.
        var singleThrough: Int64 = 0
        var attempts = 0
        var position: Int64 = 0
        while !state.withLock({ $0.isStopped }), !Task.isCancelled {
            let isSingle = position < singleThrough
            let limits = BatchLimits(
                events: registration.batchSize, slice: registration.batchSize, isSingle: isSingle)
            do {
                let outcome = try await onWriter(name) { projections, slot, writer, db in
                    try projections.step(slot, limits: limits, on: writer, db)
                }
                guard let checkpoint = outcome.checkpoint else { return }
                let isDone = checkpoint.position >= engine.committed.position
                if checkpoint.position > position { attempts = 0 }
                position = checkpoint.position
                notify(name, outcome.emitted)
                if isDone || checkpoint.state != .running { return }
            } catch let failure as ProjectionBatchError {
                if !isSingle, singleThrough < failure.positions.upperBound {
                    singleThrough = failure.positions.upperBound
                    continue
                }
                do {
                    guard try await recover(registration, from: failure, attempts: &attempts) else { return }
                } catch {
                    return stall(name, error)
                }
            } catch {
                return stall(name, error)
            }
        }
    }

    /// - Returns: Whether to continue.
    func recover(
        _ registration: ProjectionRegistration, from failure: ProjectionBatchError, attempts: inout Int
    ) async throws -> Bool {
        let name = registration.name
        let isReplay = try await onWriter(name) { _, _, writer, _ in
            try failure.positions.lowerBound <= Checkpoint.load(name, writer.database)?.replayed ?? 0
        }
        let policy = registration.policy(isReplay: isReplay)
        attempts += 1
        if attempts <= policy.retries {
            try await wait(policy.delay / .seconds(1) * Double(1 << min(attempts - 1, 16)))
            return true
        }
        attempts = 0
        switch policy.outcome {
        case .pause:
            try await onWriter(name) { projections, _, writer, db in
                _ = try projections.change(name, on: writer, db) { $0.fail(failure) }
            }
            return false
        case .deadLetter:
            let outcome = try await onWriter(name) { projections, slot, writer, db in
                try projections.stepWithDeadLetters(slot, on: writer, db)
            }
            notify(name, outcome.emitted)
            return true
        }
    }

    /// Waits before the next attempt, but not longer than the store is open.
    func wait(_ seconds: Double) async throws {
        let end = ContinuousClock.now + .limited(seconds: seconds)
        while ContinuousClock.now < end, !state.withLock({ $0.isStopped }) {
            try await Task.sleep(for: min(.milliseconds(20), end - ContinuousClock.now))
        }
    }

    /// Records that the store has failed or was closed; the projection resumes at its checkpoint when the store is
    /// opened again.
    func stall(_ name: String, _ error: any Error) {
        changed { $0[name] = Progress(position: $0[name]?.position ?? 0, stallReason: "\(error)") }
    }

    func notify(_ name: String, _ ranges: [AppliedRange]) {
        guard !ranges.isEmpty else { return }
        state.withLock { $0.reactions[name] }?.add(ranges)
    }

    /// Catches up an inline projection, so that it applies commits as they are made; if that fails, the projection is
    /// marked as failed.
    ///
    /// - Returns: The events for a ``SideEffectingProjection``.
    static func catchUpNow(
        _ slot: UserProjections.Slot, of projections: UserProjections, on writer: LogWriter, _ db: GRDB.Database
    ) throws -> [AppliedRange] {
        var emitted: [AppliedRange] = []
        do {
            // Events applied before a failure are durable, so they are reported anyway.
            _ = try projections.catchUp(slot, through: writer.head.position, on: writer) { step in
                let outcome = try writer.group(db, step)
                emitted += outcome.emitted
                return outcome
            }
            slot.cache = nil
            slot.isInStep = try Checkpoint.load(slot.name, writer.database)?.state == .running
        } catch let failure as ProjectionBatchError {
            _ = try projections.change(slot.name, on: writer, db) { $0.fail(failure) }
        }
        return emitted
    }
}
