internal import CSQLite
internal import GRDB
internal import StorageCore
internal import Synchronization

/// Statistics of sealing since the store was opened.
package struct SealingWork: Sendable {
    /// Runs of segments that were merged.
    package var runs = 0
    /// Attempts in the background that failed.
    package var failures = 0
    /// The longest time for which one of them blocked the writer.
    package var longestHold: Duration = .zero
}

extension StorageEngine {
    package var sealingWork: SealingWork { state.withLock { $0.sealing } }

    /// Seals full windows while no commit waits: segments are merged on a reader's connection, and the writer is blocked only for
    /// the exchange. After a failure, the next commit tries again. Called on the writer's queue.
    func sealIfIdle() {
        guard configuration.sealsInBackground, !configuration.isReadOnly, let writer else { return }
        let starts = state.withLock { state in
            guard state.queue.isEmpty, !state.isClosed, state.failure == nil, !state.isSealing else { return false }
            state.isSealing = true
            return true
        }
        guard starts else { return }
        do {
            guard let run = try StorageError.failingStoreIfCorrupt({ try writer.nextSealingRun() }) else {
                return endSealing(nil)
            }
            pool.asyncRead { [self] db in
                let merged = Result {
                    try StorageError.failingStoreIfCorrupt {
                        try SegmentMerge(run, from: db.get().connection, configuration)
                    }
                }
                pool.asyncWriteWithoutTransaction { [self] db in
                    let result = Result { try exchange(merged.get(), db) }
                    endSealing(result)
                    // What has failed, such as a reader that can't be opened, would fail again at once.
                    if case .success = result { sealIfIdle() }
                }
            }
        } catch {
            endSealing(.failure(error))
        }
    }

    private func endSealing(_ result: Result<Void, any Error>?) {
        state.withLock { state in
            state.isSealing = false
            if case .failure? = result { state.sealing.failures += 1 }
        }
        if case .failure(let error)? = result { noteFailure(error) }
    }

    private func exchange(_ merged: SegmentMerge?, _ db: GRDB.Database) throws {
        guard let merged, let writer, !state.withLock({ $0.isClosed || $0.failure != nil }) else { return }
        let start = ContinuousClock.now
        // Its transaction may be the one that checkpoints the write-ahead log, which blocks the writer, too: therefore
        // checkpoints are frequent and small.
        writer.checkpoints.pages = Limits.sealingCheckpointPages
        defer { writer.checkpoints.pages = Limits.checkpointPages }
        try writer.exchange(merged, db)
        let held = ContinuousClock.now - start
        state.withLock { state in
            state.sealing.runs += 1
            state.sealing.longestHold = max(state.sealing.longestHold, held)
        }
    }

    /// Seals every full window now. Commits may run in between.
    ///
    /// - Throws: `CancellationError` when the task is cancelled; the remaining windows are sealed later.
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

extension StorageError {
    /// Runs what reads the log in order to seal it: nothing more is written to a log that can't be read.
    ///
    /// Only for the log itself. The transaction around it may find that the table of an entity is missing, which is `corrupt`, too,
    /// and doesn't make the log unreadable.
    static func failingStoreIfCorrupt<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var error as StorageError where error.code == .corrupt {
            error.isStoreFailure = true
            throw error
        }
    }
}
