internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog
internal import Synchronization

/// Applies the batches of a hub's producers. Batches that arrive while others are written share the next transaction
/// and its sync to disk.
///
/// Isolation: `Sendable`, its queue behind a mutex; batches are applied on the store's writer.
final class HubGroupCommit: Sendable {
    /// A transaction accepts no more batches after this many writes; bytes are limited as well.
    private static let groupWrites = 1_000
    private static let groupBytes = 16 << 20

    private struct Job: Sendable {
        let batch: HubBatch
        let byteCount: Int
        let access: HubAccess
        let continuation: CheckedContinuation<[NumberedResult], any Error>
    }

    private struct State {
        var waiting: [Job] = []
        var isWorking = false
    }

    private let storage: Storage
    private let historySteps: Int
    private let state = Mutex(State())

    /// - Parameter historySteps: See ``HubHistory/init(of:_:_:steps:skipsUnfitTables:)``.
    init(_ storage: Storage, historySteps: Int) {
        self.storage = storage
        self.historySteps = historySteps
    }

    func push(_ batch: HubBatch, as access: HubAccess) async throws -> [NumberedResult] {
        let bytes = batch.byteCount
        return try await withCheckedThrowingContinuation { continuation in
            let starts = state.withLock { state in
                state.waiting.append(
                    Job(batch: batch, byteCount: bytes, access: access, continuation: continuation))
                defer { state.isWorking = true }
                return !state.isWorking
            }
            if starts { Task { await work() } }
        }
    }

    private func work() async {
        while let jobs = take() {
            do {
                for (job, outcome) in zip(jobs, try await apply(jobs)) { job.continuation.resume(with: outcome) }
            } catch let error where jobs.count > 1 && !error.isOfTheStore || error.isCausedByTableSchema {
                // One of them has rolled back the transaction for all: each is applied by itself.
                for job in jobs { await applyAlone(job) }
            } catch {
                for job in jobs { job.continuation.resume(throwing: Self.failure(error, of: job)) }
            }
        }
    }

    private func take() -> [Job]? {
        state.withLock { state in
            let count = Self.groupCount(of: state.waiting.lazy.map { ($0.batch.writes.count, $0.byteCount) })
            let jobs = Array(state.waiting.prefix(count))
            state.waiting.removeFirst(jobs.count)
            state.isWorking = !jobs.isEmpty
            return jobs.isEmpty ? nil : jobs
        }
    }

    /// The number of waiting batches that form one transaction.
    static func groupCount(of waiting: some Sequence<(writes: Int, bytes: Int)>) -> Int {
        var (count, writes, bytes) = (0, 0, 0)
        for batch in waiting {
            guard writes < groupWrites, bytes < groupBytes else { break }
            count += 1
            writes += batch.writes
            bytes += batch.bytes
        }
        return count
    }

    private func applyAlone(_ job: Job) async {
        do {
            for outcome in try await apply([job], rejectsUnfitTables: true) { job.continuation.resume(with: outcome) }
        } catch {
            job.continuation.resume(throwing: Self.failure(error, of: job))
        }
    }

    /// - Parameter rejectsUnfitTables: Whether writes to a table whose schema doesn't fit are rejected, once the changes of other
    ///   programs are recorded.
    private func apply(
        _ jobs: [Job], rejectsUnfitTables: Bool = false
    ) async throws -> [Result<[NumberedResult], any Error>] {
        let steps = historySteps
        return try await storage.engine.withWriter { writer, db in
            try writer.group(db) {
                // A commit records what can be followed, as a column that was renamed. If it throws, a change can't be recorded, which is
                // no write's fault.
                if rejectsUnfitTables { _ = try writer.commit(CommitMetadata()) {} }
                let batches = jobs.map { ($0.batch, $0.access) }
                let history = try HubHistory(
                    of: batches, writer, db, steps: steps, skipsUnfitTables: rejectsUnfitTables)
                return try jobs.map { job in
                    try HubWriter(writer, db, as: job.access, knowing: history, rejectsUnfitTables: rejectsUnfitTables)
                        .apply(job.batch)
                }
            }
        }
    }

    /// A batch that rolls back its own transaction is refused: its writes are then sent one by one.
    private static func failure(_ error: any Error, of job: Job) -> any Error {
        if error is HubError { return error }
        guard let error = error as? StorageError, !error.isOfTheStore else {
            return SyncFailure.retryable(afterMicroseconds: nil)
        }
        return SyncFailure.refused(.invalid(job.access.reason(error)))
    }
}

extension HubBatch {
    /// The approximate memory use.
    fileprivate var byteCount: Int {
        writes.reduce(0) { total, write in
            switch write.operation {
            case .save(let values), .patch(let values):
                values.reduce(total + 128) { $0 + $1.key.utf8.count + $1.value.byteCount }
            case .delete: total + 128
            }
        }
    }
}

extension Error {
    /// Whether the error isn't caused by the written data: the store, the machine or its clock is at fault. So is a schema that
    /// another program has changed, which SQLite reports as it compiles a statement. A row that another program has written is one
    /// document's, and later requests needn't wait for it.
    package var isOfTheStore: Bool {
        guard let error = self as? StorageError, !error.isCausedByUnrecordedRow else { return false }
        return error.isStoreFailure || error.isOfTheMachine
            || error.isCausedByTableSchema
            || [.closed, .unusable, .readOnly, .busy, .clockAhead, .overloaded, .corrupt].contains(error.code)
    }

    /// Whether the schema of a table doesn't fit. If that fails a write even when a commit has recorded the changes of other programs,
    /// it is a table that the write changes: writes to others needn't fail with it.
    ///
    /// SQLite has the same code for what a function of a trigger or a constraint refuses, which is the written data's fault. A hub's write
    /// distinguishes them: for that, ``HubEntityTable`` throws `conflict`.
    var isCausedByTableSchema: Bool {
        guard let error = self as? StorageError else { return false }
        return error.code == .database || error.isCausedBySchemaChange
    }
}
