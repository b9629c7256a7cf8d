internal import CSQLite
internal import GRDB
internal import StorageCore
internal import Synchronization

/// What sealing has done since the store was opened.
package struct SealingWork: Sendable {
    /// Runs of rows that were merged.
    package var runs = 0
    /// The longest time for which the writer was held for one of them.
    package var longestHold: Duration = .zero
}

extension StorageEngine {
    package var sealingWork: SealingWork { state.withLock { $0.sealing } }

    /// Seals full windows while no commit waits: rows are merged on a connection that reads, and the writer is held for
    /// the exchange only. Called on the writer's queue.
    func sealIfIdle() {
        guard configuration.sealsInBackground, !configuration.isReadOnly, let writer else { return }
        let starts = state.withLock { state in
            guard state.queue.isEmpty, !state.isClosed, state.failure == nil, !state.isSealing else { return false }
            state.isSealing = true
            return true
        }
        guard starts else { return }
        do {
            guard let run = try writer.nextSealingRun() else { return endSealing(nil) }
            pool.asyncRead { [self] db in
                let merged = Result { try SegmentMerge(run, from: db.get().connection, configuration) }
                pool.asyncWriteWithoutTransaction { [self] db in
                    endSealing(Result { try exchange(merged.get(), db) })
                    sealIfIdle()
                }
            }
        } catch {
            endSealing(.failure(error))
        }
    }

    private func endSealing(_ result: Result<Void, any Error>?) {
        state.withLock { $0.isSealing = false }
        guard case .failure(var error as StorageError)? = result else { return }
        // A log that can't be read isn't written on to.
        if error.code == .corrupt { error.isStoreFailure = true }
        noteFailure(error)
    }

    private func exchange(_ merged: SegmentMerge?, _ db: GRDB.Database) throws {
        guard let merged, let writer, !state.withLock({ $0.isClosed || $0.failure != nil }) else { return }
        let start = ContinuousClock.now
        // Its transaction may be the one that brings the write-ahead log into the file, for which the writer is held, too: then often, and
        // little at a time.
        writer.checkpoints.pages = Limits.sealingCheckpointPages
        defer { writer.checkpoints.pages = Limits.checkpointPages }
        try writer.exchange(merged, db)
        let held = ContinuousClock.now - start
        state.withLock { state in
            state.sealing.runs += 1
            state.sealing.longestHold = max(state.sealing.longestHold, held)
        }
    }

    /// Seals every full window now. Commits come in between.
    ///
    /// - Throws: `CancellationError` once the task is cancelled; the rest is sealed later then.
    package func seal() async throws {
        while let run = try await withWriter({ writer, _ in try writer.nextSealingRun() }) {
            let merged: SegmentMerge?
            do {
                merged = try await read { [configuration] in
                    try SegmentMerge(run, from: $0.connection, configuration)
                }
            } catch {
                noteFailure(error)
                throw error
            }
            try await withWriter { [self] _, db in try exchange(merged, db) }
            try Task.checkCancellation()
        }
    }
}
