internal import Foundation
package import GRDB
internal import StorageCore
internal import Synchronization

extension StorageEngine {
    /// Makes one commit. Calls during another write share the next transaction and its wait for the disk, each with its own
    /// savepoint, metadata and outcome.
    ///
    /// A transaction ends after about 2 ms or 1 MiB of changes, so no commit waits for a large or long one that was queued later,
    /// unless that one is long outside of SQLite. `body` may therefore run more than once: again if it outgrew a transaction that
    /// others wait for, or if another commit of the same transaction has ended it. The changes of an earlier run are undone
    /// first.
    ///
    /// A task that is cancelled before its turn throws `CancellationError` and changes nothing; once its turn has come, the
    /// commit is completed.
    ///
    /// - Parameter afterwards: Runs in the same transaction once the commit is made: rows that triggers have changed again have
    ///   their positions only then. It changes no entity. If it throws, the commit is undone.
    /// - Throws: `overloaded` if ``StorageConfig/maximumQueuedWrites`` commits are waiting already.
    package func commit(
        _ metadata: CommitMetadata, at time: Int64? = nil,
        _ body: @escaping @Sendable (LogWriter, GRDB.Database) throws -> Void,
        afterwards: (@Sendable (LogWriter, GRDB.Database, CommitReceipt) throws -> Void)? = nil
    ) async throws -> CommitReceipt {
        let cancelled = CancellationFlag()
        let captured = signals.captured()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                enqueue(
                    CommitQueue.Job(
                        metadata: metadata, time: time, body: body, afterwards: afterwards,
                        finish: { continuation.resume(with: $0) }, isCancelled: { cancelled.isSet },
                        captured: captured))
            }
        } onCancel: {
            cancelled.set()
        }
    }

    private func enqueue(_ job: CommitQueue.Job) {
        do {
            try checkUsable()
        } catch {
            return job.finish(.failure(error))
        }
        let limit = configuration.maximumQueuedWrites
        guard let starts = state.withLock({ $0.queue.append(job, limit: limit) }) else {
            return job.finish(.failure(StorageError.overloaded(limit ?? 0)))
        }
        if starts { drain() }
    }

    /// - Throws: `unusable`, `closed` or `read-only` if the store can't be written to.
    package func checkUsable() throws {
        let (failure, isClosed) = state.withLock { ($0.failure, $0.isClosed) }
        if let failure { throw failure }
        if isClosed { throw StorageError.closed() }
        guard configuration.isReadOnly else { return }
        throw StorageError(
            .readOnly, "The store was opened for reading only.", remedy: "Open it for writing to change it.")
    }

    /// Whether the store must be opened again after a failure of its file.
    package var hasFailed: Bool { state.withLock { $0.failure != nil } }

    /// Whether commits are waiting, so that deferrable work should yield.
    package var hasWaitingCommits: Bool { state.withLock { !$0.queue.isEmpty } }

    /// The number of commits that are waiting for their turn.
    package var waitingCommits: Int { state.withLock { $0.queue.count } }

    /// Processes the queue with one block on the writer for each group: blocks of others that wait for the writer have their turn
    /// between two groups, also if commits never stop waiting.
    private func drain() {
        pool.asyncWriteWithoutTransaction { [self] db in
            if runGroup(db) { drain() }
            sealIfIdle()
        }
    }

    /// Runs the commits that share the next transaction.
    ///
    /// - Returns: Whether others are waiting.
    func runGroup(_ db: GRDB.Database) -> Bool {
        let jobs = state.withLock { $0.queue.take(atMost: Limits.groupCommits) }
        // Closing the store may have completed them already.
        let rest = jobs.isEmpty ? [] : run(jobs[...], db)
        return state.withLock { $0.queue.endGroup(returning: rest) }
    }

    /// Runs `body` on the writer and waits for it: for opening, before the store is shared.
    package func withWriterNow(_ body: (LogWriter, GRDB.Database) throws -> Void) throws {
        try checkUsable()
        do {
            try pool.writeWithoutTransaction { db in
                guard let writer else { throw StorageError.closed() }
                try body(writer, db)
                noteHead(of: writer)
            }
        } catch {
            throw StorageError.wrapping((error as? GroupFailure)?.cause ?? error)
        }
    }

    /// Runs `body` on the writer, outside of the queue of commits: for series of commits such as imports.
    package func withWriter<Result: Sendable>(
        _ body: @escaping @Sendable (LogWriter, GRDB.Database) throws -> Result
    ) async throws -> Result {
        try checkUsable()
        return try await withCheckedThrowingContinuation { continuation in
            pool.asyncWriteWithoutTransaction { [self] db in
                do {
                    guard let writer else { throw StorageError.closed() }
                    let result = try body(writer, db)
                    noteHead(of: writer)
                    continuation.resume(returning: result)
                } catch {
                    let error = StorageError.wrapping((error as? GroupFailure)?.cause ?? error)
                    noteFailure(error)
                    continuation.resume(throwing: error)
                }
                sealIfIdle()
            }
        }
    }

    private func noteHead(of writer: LogWriter) {
        let head = writer.head
        state.withLock { $0.committed = head }
    }

    /// After an error of the store's own file the state in memory is unknown: the store must be opened again.
    func noteFailure(_ error: any Error) {
        guard let error = error as? StorageError, error.isStoreFailure else { return }
        state.withLock { state in
            state.failure = StorageError(
                .unusable, "The store is unusable after an earlier error: \(error.message)",
                remedy: "Fix the cause, then open the store again.", cause: error)
        }
        observers.ring()
    }
}

// MARK: Groups

extension StorageEngine {
    /// The outcome of jobs that shared a transaction.
    private enum GroupOutcome {
        /// The first jobs have results; the others didn't fit.
        case finished([Result<CommitReceipt, any Error>], CommitTimer)
        /// Everything was undone. `culprit` is the index of the job that ended the transaction, nil if the transaction failed at
        /// its end; if the job only took more than its share, it must run again.
        case undone(any Error, culprit: Int?, isOutgrown: Bool)
        /// The transaction couldn't begin, which is no job's fault.
        case notBegun(any Error)
    }

    /// Runs jobs as one transaction and completes them.
    ///
    /// - Returns: The jobs that didn't fit.
    private func run(_ jobs: ArraySlice<CommitQueue.Job>, _ db: GRDB.Database) -> ArraySlice<CommitQueue.Job> {
        let (error, culprit, isOutgrown): (any Error, Int?, Bool)
        switch attempt(jobs, db) {
        case .finished(let outcomes, let timing):
            answer(jobs, outcomes, timing)
            return jobs.dropFirst(outcomes.count)
        case .undone(let cause, let index, let outgrown): (error, culprit, isOutgrown) = (cause, index, outgrown)
        case .notBegun(let cause):
            // While another program holds the lock, each would wait for it in turn.
            noteFailure(cause)
            for job in jobs { fail(job, cause) }
            return []
        }
        if (error as? StorageError)?.isStoreFailure ?? false {
            noteFailure(error)
            for job in jobs { fail(job, error) }
            return []
        }
        guard let culprit else {
            // Whichever job caused it: run alone, each has an outcome of its own.
            guard jobs.count > 1 else {
                for job in jobs { fail(job, error) }
                return []
            }
            for job in jobs { _ = run([job], db) }
            return []
        }
        // The jobs before it didn't cause the failure. Their bodies run again, without it.
        var innocent = jobs.prefix(culprit)
        while !innocent.isEmpty { innocent = run(innocent, db) }
        if isOutgrown { return jobs.dropFirst(culprit) }
        fail(jobs[jobs.startIndex + culprit], error)
        return jobs.dropFirst(culprit + 1)
    }

    private func answer(
        _ jobs: ArraySlice<CommitQueue.Job>, _ outcomes: [Result<CommitReceipt, any Error>], _ timing: CommitTimer
    ) {
        let end = ContinuousClock.now
        count(jobs, outcomes, end: end)
        for (job, outcome) in zip(jobs, outcomes) { job.finish(outcome) }
        // The callers that wait for these commits come first.
        writer?.ring()
        report(jobs, outcomes, timing, end: end)
    }

    /// Counts commits before they are completed, so that a caller that has waited for one finds it counted.
    private func count(
        _ jobs: ArraySlice<CommitQueue.Job>, _ outcomes: [Result<CommitReceipt, any Error>],
        end: ContinuousClock.Instant
    ) {
        signals.note(zip(jobs, outcomes).lazy.map { (end - $0.called, (try? $1.get()) != nil) })
    }

    /// Reports the durations of completed commits to observers.
    private func report(
        _ jobs: ArraySlice<CommitQueue.Job>, _ outcomes: [Result<CommitReceipt, any Error>], _ timing: CommitTimer,
        end: ContinuousClock.Instant
    ) {
        guard signals.observesCommits else { return }
        for (index, (job, outcome)) in zip(jobs, outcomes).enumerated() {
            signals.report(timing.commit(index, job, outcome, end: end), captured: job.captured)
        }
    }

    private func fail(_ job: CommitQueue.Job, _ error: any Error) {
        let end = ContinuousClock.now
        count([job], [.failure(error)], end: end)
        job.finish(.failure(error))
        report([job], [.failure(error)], CommitTimer(start: end, isDetailed: false), end: end)
    }

    private func attempt(_ jobs: ArraySlice<CommitQueue.Job>, _ db: GRDB.Database) -> GroupOutcome {
        var outcomes: [Result<CommitReceipt, any Error>] = []
        var failed: (index: Int, isOutgrown: Bool)?
        var hasBegun = false
        do {
            guard let writer else { throw StorageError.closed() }
            if let failure = state.withLock({ $0.failure }) { throw failure }
            let start = ContinuousClock.now
            var timing = CommitTimer(start: start, isDetailed: signals.observesCommits)
            writer.timesProjections = timing.isDetailed
            try writer.group(db, rings: false) {
                hasBegun = true
                for job in jobs {
                    do {
                        outcomes.append(
                            try timing.measure(writer) { try outcome(of: job, yields: !outcomes.isEmpty, writer, db) })
                    } catch is OutgrownCommit {
                        return
                    } catch let error as GroupFailure {
                        failed = (outcomes.count, error.isOutgrown)
                        throw error
                    }
                    guard writer.pendingBytes < Limits.groupBytes, writer.pendingEvents < Limits.groupEvents,
                        ContinuousClock.now - start < .microseconds(Limits.groupMicroseconds)
                    else { return }
                }
            }
            noteHead(of: writer)
            timing.transaction = writer.lastTransaction
            return .finished(outcomes, timing)
        } catch {
            let cause = (error as? GroupFailure)?.cause ?? error
            guard hasBegun else { return .notBegun(cause) }
            return .undone(cause, culprit: failed?.index, isOutgrown: failed?.isOutgrown ?? false)
        }
    }

    private func outcome(
        of job: CommitQueue.Job, yields: Bool, _ writer: LogWriter, _ db: GRDB.Database
    ) throws -> Result<CommitReceipt, any Error> {
        guard !job.isCancelled() else { return .failure(CancellationError()) }
        do {
            let receipt = try writer.commit(job.metadata, at: job.time, yields: yields) { try job.body(writer, db) }
            // The commit's own savepoint is gone, so it is undone with the whole transaction.
            do { try job.afterwards?(writer, db, receipt) } catch { throw error.endingTheGroup() }
            return .success(receipt)
        } catch let error as GroupFailure {
            throw error
        } catch let error as OutgrownCommit {
            throw error
        } catch {
            // Errors of the disk end the whole transaction, whichever commit they occurred in.
            if (error as? StorageError)?.isStoreFailure ?? false { throw error.endingTheGroup() }
            return .failure(error)
        }
    }
}

extension StorageError {
    static func overloaded(_ limit: Int) -> StorageError {
        StorageError(
            .overloaded, "\(limit) writes are already queued.",
            remedy: "Wait for some of them before you start more, or raise maximumQueuedWrites.")
    }
}
