internal import CSQLite
internal import Foundation
package import GRDB
package import StorageCore
internal import Synchronization

/// The open store: its connections, its one writer, and the queue of commits.
///
/// Isolation: `Sendable`; any task may call it. ``LogWriter`` is reached only inside blocks on the writer's queue.
package final class StorageEngine: Sendable {
    package let path: String
    package let configuration: StorageConfiguration
    package let pool: any GRDB.DatabaseWriter
    /// Who is told of each transaction of this process.
    package let observers: CommitObservers
    private let lock: WriterLock?
    /// Sound as `nonisolated(unsafe)`: set before the engine is shared; from then on read, used and taken away on the
    /// writer's queue only, which runs one block at a time; at last taken away by `deinit`, when each of those blocks, which
    /// hold the engine, is over.
    private nonisolated(unsafe) var writer: LogWriter?
    private let state = Mutex(State())

    private struct State {
        var jobs: [Job] = []
        var isDraining = false
        var isClosed = false
        /// The I/O error after which nothing works any more.
        var failure: StorageError?
        var committed = LogHead()
    }

    /// One commit that waits for its turn.
    private struct Job: Sendable {
        let metadata: CommitMetadata
        let time: Int64?
        let body: @Sendable (LogWriter, GRDB.Database) throws -> Void
        let finish: @Sendable (Result<CommitReceipt, any Error>) -> Void
        let isCancelled: @Sendable () -> Bool
    }

    init(
        path: String, configuration: StorageConfiguration, pool: any GRDB.DatabaseWriter, lock: WriterLock?,
        writer: LogWriter?, head: LogHead = LogHead()
    ) {
        self.path = path
        self.configuration = configuration
        self.pool = pool
        self.lock = lock
        self.writer = writer
        observers =
            writer?.observers
            ?? CommitObservers(watch: CommitWatch(store: path, heartbeat: configuration.heartbeat))
        let head = writer?.head ?? head
        state.withLock { $0.committed = head }
    }

    /// The writer lets go of its connection before that is closed with the pool, also where nobody has called ``close()``.
    deinit { writer = nil }
}

// MARK: Writing

extension StorageEngine {
    /// Makes one commit. Calls that come in while another is being written share its transaction and its wait for the
    /// disk, each with its own savepoint, metadata and outcome.
    ///
    /// A task that is cancelled before its turn throws `CancellationError` and changes nothing; once the turn has come
    /// the commit is finished.
    package func commit(
        _ metadata: CommitMetadata, at time: Int64? = nil,
        _ body: @escaping @Sendable (LogWriter, GRDB.Database) throws -> Void
    ) async throws -> CommitReceipt {
        let cancelled = CancellationFlag()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let job = Job(
                    metadata: metadata, time: time, body: body, finish: { continuation.resume(with: $0) },
                    isCancelled: { cancelled.isSet })
                enqueue(job)
            }
        } onCancel: {
            cancelled.set()
        }
    }

    private func enqueue(_ job: Job) {
        do {
            try checkUsable()
        } catch {
            return job.finish(.failure(error))
        }
        let starts = state.withLock { state in
            state.jobs.append(job)
            defer { state.isDraining = true }
            return !state.isDraining
        }
        if starts { drain() }
    }

    /// - Throws: `failed`, `closed` or `read-only` where the store can't be written to.
    private func checkUsable() throws {
        let (failure, isClosed) = state.withLock { ($0.failure, $0.isClosed) }
        if let failure { throw failure }
        if isClosed { throw StorageError.closed() }
        if configuration.isReadOnly { throw StorageError.sqlite(code: SQLITE_READONLY, message: "", sql: nil) }
    }

    /// Whether somebody waits for a commit: work that can be put off makes room then.
    package var hasWaitingCommits: Bool { state.withLock { !$0.jobs.isEmpty } }

    private func drain() {
        pool.asyncWriteWithoutTransaction { [self] db in
            while let jobs = takeJobs() { run(jobs, db) }
        }
    }

    /// The jobs of the next transaction; nil when there are none, and then the queue is idle.
    private func takeJobs() -> [Job]? {
        state.withLock { state in
            guard !state.jobs.isEmpty else {
                state.isDraining = false
                return nil
            }
            let count = min(state.jobs.count, 1_024)
            defer { state.jobs.removeFirst(count) }
            return Array(state.jobs.prefix(count))
        }
    }

    private func run(_ jobs: [Job], _ db: GRDB.Database) {
        var outcomes: [Result<CommitReceipt, any Error>?] = Array(repeating: nil, count: jobs.count)
        var isThere = false
        do {
            guard let writer else { throw StorageError.closed() }
            if let failure = state.withLock({ $0.failure }) { throw failure }
            try writer.group(db, rings: false) {
                for (index, job) in jobs.enumerated() { outcomes[index] = try outcome(of: job, writer, db) }
            }
            let head = writer.head
            state.withLock { $0.committed = head }
            isThere = true
        } catch {
            let cause = (error as? GroupFailure)?.cause ?? error
            noteFailure(cause)
            // Nothing of the transaction is there; a job that had failed by itself keeps its own error.
            for index in outcomes.indices {
                if case .failure = outcomes[index] { continue }
                outcomes[index] = .failure(cause)
            }
        }
        for (job, outcome) in zip(jobs, outcomes) { job.finish(outcome ?? .failure(CancellationError())) }
        // Those who wait for their commits go first.
        if isThere { writer?.ring() }
        sealIfIdle()
    }

    private func outcome(
        of job: Job, _ writer: LogWriter, _ db: GRDB.Database
    ) throws -> Result<CommitReceipt, any Error> {
        guard !job.isCancelled() else { return .failure(CancellationError()) }
        do {
            return .success(try writer.commit(job.metadata, at: job.time) { try job.body(writer, db) })
        } catch let error as GroupFailure {
            throw error
        } catch {
            // Errors of the disk end the whole transaction, whoever met them first.
            if (error as? StorageError)?.code == .inputOutput { throw GroupFailure(cause: error) }
            return .failure(error)
        }
    }

    /// After an error of the disk nobody knows what is in the file's cache: the store must be opened again.
    private func noteFailure(_ error: any Error) {
        guard let error = error as? StorageError, error.code == .inputOutput || error.code == .corrupt else { return }
        state.withLock { state in
            state.failure = StorageError(
                .failed, "The store is out of use after an earlier error: \(error.message)",
                remedy: "Mend the cause, then open the store again.", cause: error)
        }
        observers.ring()
    }

    /// Runs `body` on the writer and waits for it: for opening, before anybody else has the store.
    package func withWriterNow(_ body: (LogWriter, GRDB.Database) throws -> Void) throws {
        try checkUsable()
        do {
            try pool.writeWithoutTransaction { db in
                guard let writer else { throw StorageError.closed() }
                try body(writer, db)
                let head = writer.head
                state.withLock { $0.committed = head }
            }
        } catch {
            throw StorageError.wrapping((error as? GroupFailure)?.cause ?? error)
        }
    }

    /// Runs `body` on the writer, outside of the queue of commits: for whole series of commits such as imports.
    package func withWriter<Result: Sendable>(
        _ body: @escaping @Sendable (LogWriter, GRDB.Database) throws -> Result
    ) async throws -> Result {
        try checkUsable()
        return try await withCheckedThrowingContinuation { continuation in
            pool.asyncWriteWithoutTransaction { [self] db in
                do {
                    guard let writer else { throw StorageError.closed() }
                    let result = try body(writer, db)
                    let head = writer.head
                    state.withLock { $0.committed = head }
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
}

// MARK: Reading

extension StorageEngine {
    /// Reads one state of the store, undisturbed by commits that happen meanwhile.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try checkReadable()
        do {
            return try await pool.read(body)
        } catch {
            throw StorageError.wrapping(error)
        }
    }

    private func checkReadable() throws {
        let (failure, isClosed) = state.withLock { ($0.failure, $0.isClosed) }
        if let failure { throw failure }
        if isClosed { throw StorageError.closed() }
    }

    /// Reads one state on the calling thread: for opening, and for threads that may wait.
    package func readNow<Result>(_ body: (GRDB.Database) throws -> Result) throws -> Result {
        try checkReadable()
        do {
            guard let pool = pool as? GRDB.DatabasePool else { return try pool.read(body) }
            return try pool.unsafeRead { db in try db.inOneState { try body(db) } }
        } catch {
            throw StorageError.wrapping(error)
        }
    }

    /// Rings after every transaction of this process, also after the failure of the store, and ends when it is closed. Of a
    /// store that is open for reading only it rings when another process has committed. Whoever gets a bell and then reads
    /// the store misses nothing; a ring can come without there being news.
    package func commitBell() -> AsyncStream<Void> { observers.bell() }

    /// Calls `body` when ``commitBell()`` would ring, and a last time when the store is closed: something may have been
    /// committed, look. The call comes on the writer's queue or on the thread that listens to the writer, so `body` does no
    /// more than pass it on, and doesn't read.
    ///
    /// - Returns: What ends it once it is cancelled or let go of. A call that is under way is finished.
    package func onCommit(_ body: @escaping @Sendable () -> Void) -> CommitObservation { observers.onCommit(body) }

    /// The end of the log after this process's last commit.
    package var committed: LogHead { state.withLock { $0.committed } }

    /// Lets go of the file on the calling thread: for a store that nobody else has got hold of.
    package func closeNow() {
        state.withLock { $0.isClosed = true }
        observers.close()
        pool.writeWithoutTransaction { _ in writer = nil }
        // Can fail only for statements in use, and there are none: nobody else has the store.
        try? pool.close()
        lock?.release()
    }

    /// Lets go of the file. Commits that wait are finished first; later calls throw `closed`.
    package func close() async throws {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        guard !wasClosed else { return }
        observers.close()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            pool.asyncWriteWithoutTransaction { [self] db in
                if writer != nil, state.withLock({ $0.failure }) == nil {
                    // A smaller file to open next time; nothing depends on it.
                    _ = try? db.checkpoint(.truncate)
                }
                writer = nil
                continuation.resume()
            }
        }
        await observers.watch?.hasEnded()
        try pool.close()
        lock?.release()
    }
}

// MARK: Sealing

extension StorageEngine {
    /// Seals one full window when no commit waits, and comes back for the next.
    private func sealIfIdle() {
        guard configuration.sealsInBackground, !configuration.isReadOnly else { return }
        guard state.withLock({ $0.jobs.isEmpty && !$0.isClosed && $0.failure == nil }) else { return }
        guard let writer, writer.hasWindowToSeal else { return }
        pool.asyncWriteWithoutTransaction { [self] db in
            guard state.withLock({ $0.jobs.isEmpty && !$0.isClosed && $0.failure == nil }), let writer = self.writer
            else {
                return
            }
            do {
                if try writer.sealWindow(db) { sealIfIdle() }
            } catch {
                noteFailure(error)
            }
        }
    }

    /// Seals every full window now. Commits come in between windows.
    ///
    /// - Throws: `CancellationError` once the task is cancelled; the rest is sealed later then.
    package func seal() async throws {
        while try await withWriter({ writer, db in try writer.sealWindow(db) }) { try Task.checkCancellation() }
    }
}

extension GRDB.Database {
    /// Runs `body` in a transaction that only reads, whose own statements are kept, which GRDB prepares each time.
    fileprivate func inOneState<Result>(_ body: () throws -> Result) throws -> Result {
        _ = try withKept("BEGIN") { try $0.next() }
        defer {
            // Can fail only where there is no transaction any more.
            _ = try? withKept("COMMIT") { try $0.next() }
        }
        return try body()
    }
}

extension StorageError {
    package static func closed() -> StorageError {
        StorageError(.closed, "The store is closed.", remedy: "Open it again with StorageKit.start.")
    }
}

/// Says once, across threads, that a task was cancelled.
private final class CancellationFlag: Sendable {
    private let flag = Atomic(false)
    var isSet: Bool { flag.load(ordering: .relaxed) }
    func set() { flag.store(true, ordering: .relaxed) }
}
