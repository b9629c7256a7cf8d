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
    package let configuration: StorageConfig
    package let pool: any GRDB.DatabaseWriter
    /// Who is notified of each transaction of this process.
    package let observers: CommitObservers
    /// What is counted of commits, and who wants to know how long they take.
    let signals: EngineSignals
    private let lock: WriterLock?
    /// Sound as `nonisolated(unsafe)`: set before the engine is shared; from then on read, used and taken away on the
    /// writer's queue only, which runs one block at a time; at last taken away by `deinit`, when each of those blocks, which
    /// hold the engine, is over.
    nonisolated(unsafe) var writer: LogWriter?
    let state = Mutex(State())
    let longReads: Lane
    /// Of live queries and views.
    let firstReads: Lane
    /// How many connections there are for them.
    static var firstReaderCount: Int { 2 }

    struct State {
        var queue = CommitQueue()
        var isClosed = false
        /// Whether rows of the log are being sealed.
        var isSealing = false
        var sealing = SealingWork()
        /// The I/O error after which nothing works any more.
        var failure: StorageError?
        var committed = LogHead()
    }

    init(
        path: String, configuration: StorageConfig, pool: any GRDB.DatabaseWriter, lock: WriterLock?,
        writer: LogWriter?, head: LogHead = LogHead()
    ) {
        self.path = path
        self.configuration = configuration
        self.pool = pool
        self.lock = lock
        self.writer = writer
        longReads = Lane(width: max(configuration.longReaderCount, 1))
        firstReads = Lane(width: Self.firstReaderCount)
        observers =
            writer?.observers
            ?? CommitObservers(watch: CommitWatcher(store: path, heartbeat: configuration.heartbeat))
        signals = writer?.signals ?? EngineSignals()
        let head = writer?.head ?? head
        state.withLock { $0.committed = head }
    }

    /// The writer lets go of its connection before that is closed with the pool, also where nobody has called ``close()``.
    deinit { writer = nil }
}

// MARK: Reading

extension StorageEngine {
    /// Reads one state of the store, undisturbed by commits that happen meanwhile.
    ///
    /// - Throws: `CancellationError` where the task is cancelled, also in the middle of a statement.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try checkReadable()
        let cancellation = CancellationFlag()
        let timing = signals.readBegins()
        do {
            return try await withTaskCancellationHandler {
                guard pool is GRDB.DatabaseQueue else {
                    return try await pool.read { db in
                        try db.interrupted(by: cancellation) { try timing.measure(db) { try body(db) } }
                    }
                }
                return try await pool.unsafeRead { db in
                    try db.inOneStateIfOpen {
                        try db.interrupted(by: cancellation) { try timing.measure(db) { try body(db) } }
                    }
                }
            } onCancel: {
                cancellation.set()
            }
        } catch {
            let error = StorageError.wrapping(error)
            // GRDB says so itself for its own statements, not for ours.
            guard cancellation.isSet, (error as? StorageError)?.code == .interrupted else { throw error }
            throw CancellationError()
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
            guard let pool = pool as? GRDB.DatabasePool else {
                return try pool.unsafeRead { db in try db.inOneStateIfOpen { try body(db) } }
            }
            return try pool.unsafeRead { db in try db.inOneState { try body(db) } }
        } catch {
            throw StorageError.wrapping(error)
        }
    }

    /// Rings after every transaction of this process, also after the failure of the store, and ends when it is closed. Of a
    /// store that is open for reading only it rings when another process has committed. Whoever gets a bell and then reads
    /// the store misses nothing; a ring can come without a commit.
    package func commitBell() -> AsyncStream<Void> { observers.bell() }

    /// Calls `body` when ``commitBell()`` would ring, and a last time when the store is closed: something may have been
    /// committed, look. The call comes on the writer's queue or on the thread that listens to the writer, so `body` does no
    /// more than pass it on, and doesn't read.
    ///
    /// - Returns: What ends it once it is cancelled or let go of. A call that is under way is finished.
    package func onCommit(_ body: @escaping @Sendable () -> Void) -> StorageObservation { observers.onCommit(body) }

    /// Calls `body` when the store is closed, at once where it is already, until the observation is let go of. It costs
    /// commits nothing.
    package func onClose(_ body: @escaping @Sendable () -> Void) -> StorageObservation { observers.onClose(body) }

    /// Where the log must end, as far as it is known beside it; nil in memory.
    package func acknowledgedEnd() -> AcknowledgedEnd? { isFile ? AcknowledgedEnd(store: path) : nil }

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
    ///
    /// - Parameter leavingNoLog: Whether the file must hold everything by itself then: for one that is placed or copied as a
    ///   file, without the write-ahead log beside it.
    /// - Throws: With it also what kept the write-ahead log from being brought into the file.
    package func close(leavingNoLog: Bool = false) async throws {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        guard !wasClosed else { return }
        observers.close()
        let checkpoint: Result<Void, any Error> = await withCheckedContinuation { continuation in
            pool.asyncWriteWithoutTransaction { [self] db in
                let result = Result {
                    if let failure = state.withLock({ $0.failure }) { throw failure }
                    try writer?.checkpoint(db)
                }
                writer = nil
                continuation.resume(returning: result)
            }
        }
        await observers.watch?.hasEnded()
        try pool.close()
        lock?.release()
        // Otherwise only a smaller file to open next time: nothing depends on it.
        guard leavingNoLog else { return }
        do { try checkpoint.get() } catch { throw StorageError.wrapping(error) }
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

extension GRDB.Database {
    /// Runs `body` in a transaction that only reads, on the one connection of a store in memory: as GRDB's `read` does, which
    /// passes a null pointer to SQLite where the connection was closed while its reader was on the way here.
    fileprivate func inOneStateIfOpen<Result>(_ body: () throws -> Result) throws -> Result {
        _ = try connection
        var result: Result?
        try readOnly {
            try inSavepoint {
                result = try body()
                return .commit
            }
        }
        guard let result else { throw StorageError.closed() }
        return result
    }
}

extension GRDB.Database {
    /// Runs `body`, whose statements are interrupted from the moment on when the flag is set. GRDB interrupts only the statement
    /// that runs in that moment, and keeps only its own from beginning afterwards.
    fileprivate func interrupted<Result>(by flag: CancellationFlag, _ body: () throws -> Result) throws -> Result {
        let connection = try connection.handle
        // So few of SQLite's instructions take far less than a millisecond.
        let instructionsBetweenLooks: Int32 = 1_000
        let context = Unmanaged.passUnretained(flag).toOpaque()
        sqlite3_progress_handler(
            connection, instructionsBetweenLooks,
            { context in
                context.map { Unmanaged<CancellationFlag>.fromOpaque($0).takeUnretainedValue().isSet } == true ? 1 : 0
            }, context)
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try withExtendedLifetime(flag) { try body() }
    }
}
