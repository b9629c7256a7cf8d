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
    /// The observers of this process's transactions.
    package let observers: CommitObservers
    /// The counters, and the observers of durations.
    let signals: EngineSignals
    private let lock: WriterLock?
    /// Sound as `nonisolated(unsafe)`: set before the engine is shared; from then on read, used and removed only on the writer's
    /// queue, which runs one block at a time; finally removed by `deinit`, when each of those blocks, which hold the engine, has
    /// ended.
    nonisolated(unsafe) var writer: LogWriter?
    let state = Mutex(State())
    let longReads: Lane
    /// For live queries and views that begin.
    let firstReads: Lane
    /// For rebuilds: one may drop what another has begun.
    let rebuilds = Lane(width: 1)
    /// The number of connections for ``firstReads``.
    static var firstReaderCount: Int { 2 }

    struct State {
        var queue = CommitQueue()
        var isClosed = false
        /// Whether segments are being sealed.
        var isSealing = false
        var sealing = SealingWork()
        /// The I/O error after which the store is unusable.
        var failure: StorageError?
        var committed = LogHead()
        /// SQLite's functions and collations that reads of a store in memory have redefined.
        var redefinitions: Set<String> = []
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

    /// Releases the writer's connection before the pool closes it, even if ``close()`` wasn't called.
    deinit { writer = nil }
}

// MARK: Reading

extension StorageEngine {
    /// Reads one state of the store, isolated from commits that happen meanwhile.
    ///
    /// - Throws: `CancellationError` if the task is cancelled, even during a statement; `invalid-argument` if `body` changes the
    ///   connection.
    package func read<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try checkReadable()
        let cancellation = CancellationFlag()
        let timing = signals.readBegins()
        let guardedBody: @Sendable (GRDB.Database) throws -> Result = { [self] db in
            try guarded(db) { try db.interrupted(by: cancellation) { try timing.measure(db) { try body(db) } } }
        }
        do {
            return try await withTaskCancellationHandler {
                guard pool is GRDB.DatabaseQueue else { return try await pool.read(guardedBody) }
                return try await pool.unsafeRead { db in try db.inOneStateIfOpen { try guardedBody(db) } }
            } onCancel: {
                cancellation.set()
            }
        } catch {
            let error = wrapped(error)
            // GRDB throws this itself for its own statements, but not for ours.
            guard cancellation.isSet, (error as? StorageError)?.code == .interrupted else { throw error }
            throw CancellationError()
        }
    }

    /// Runs `body` on a connection that it has to leave as it is.
    ///
    /// - Throws: `invalid-argument` if it doesn't; the errors of `body`, which come first, but for what a read of a store in memory
    ///   redefines: no later read is refused for it.
    private func guarded<Result>(_ db: GRDB.Database, _ body: () throws -> Result) throws -> Result {
        let readGuard = try ReadGuard(db)
        let result = Swift.Result { try body() }
        let outcome: ReadGuard.Outcome
        do {
            outcome = try readGuard.finish()
        } catch {
            discardReaders()
            _ = try result.get()
            throw error
        }
        if outcome.isUnchanged { return try result.get() }
        discardReaders()
        let redefinitions = unreported(outcome)
        if !redefinitions.isEmpty {
            var cause: (any Error)?
            if case .failure(let error) = result { cause = error }
            throw StorageError.redefined(redefinitions, cause: cause)
        }
        let value = try result.get()
        if let refusal = outcome.refusal { throw refusal }
        return value
    }

    /// What the read has redefined for good: in memory there is no other connection. LIKE is as it was.
    private func unreported(_ outcome: ReadGuard.Outcome) -> [String] {
        guard !isFile else { return [] }
        return state.withLock { state in
            outcome.redefinitions.filter { $0 != "function like" && state.redefinitions.insert($0).inserted }
        }
    }

    /// Makes later reads open new connections: GRDB commits what a read has made, even if the read fails. In memory there is only
    /// the writer's, whose savepoint undoes it.
    private func discardReaders() { (pool as? GRDB.DatabasePool)?.invalidateReadOnlyConnections() }

    /// A read that found the store open may get a connection that has been closed meanwhile; SQLite then reports a misuse.
    private func wrapped(_ error: any Error) -> any Error {
        if (error as? GRDB.DatabaseError)?.resultCode == .SQLITE_MISUSE, state.withLock({ $0.isClosed }) {
            return StorageError.closed()
        }
        return StorageError.wrapping(error)
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
            throw wrapped(error)
        }
    }

    /// Returns a stream that yields after every transaction of this process, also after a failure of the store, and finishes when
    /// it is closed. For a store that is open for reading only, it yields when another process has committed. A reader that gets
    /// the stream before it reads the store misses nothing; it may yield without a commit.
    package func commitBell() -> AsyncStream<Void> { observers.bell() }

    /// Calls `body` whenever ``commitBell()`` would yield, and a last time when the store is closed: there may be new commits to
    /// read. It is called on the writer's queue or on the thread that listens to the writer, so `body` must only pass it on, and
    /// not read.
    ///
    /// - Returns: The observation, which ends when it is cancelled or released. A call that is in progress is completed.
    package func onCommit(_ body: @escaping @Sendable () -> Void) -> StorageObservation { observers.onCommit(body) }

    /// Calls `body` when the store is closed, immediately if it already is, until the observation is cancelled or released. It
    /// costs commits nothing.
    package func onClose(_ body: @escaping @Sendable () -> Void) -> StorageObservation { observers.onClose(body) }

    /// Where the log must end, as far as files beside it show; nil in memory.
    package func acknowledgedEnd() -> AcknowledgedEnd? { isFile ? AcknowledgedEnd(store: path) : nil }

    /// The end of the log after this process's last commit.
    package var committed: LogHead { state.withLock { $0.committed } }

    /// Closes the file on the calling thread: for a store that isn't shared.
    package func closeNow() {
        state.withLock { $0.isClosed = true }
        observers.close()
        pool.writeWithoutTransaction { _ in writer = nil }
        // Can fail only for statements in use, and there are none: the store isn't shared.
        try? pool.close()
        lock?.release()
    }

    /// Closes the file. Waiting commits are completed first; later calls throw `closed`.
    ///
    /// - Parameter leavingNoLog: Whether the file must then be complete by itself, because it is renamed or copied without the
    ///   write-ahead log beside it.
    /// - Throws: With `leavingNoLog`, also the error that prevented the write-ahead log from being copied into the file.
    package func close(leavingNoLog: Bool = false) async throws {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        guard !wasClosed else { return }
        observers.close()
        let checkpoint: Result<Void, any Error> = await withCheckedContinuation { continuation in
            pool.asyncWriteWithoutTransaction { [self] db in
                // No more come: the store is closed for calls.
                while runGroup(db) {}
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
        // Otherwise the checkpoint only makes the next opening cheaper: nothing depends on it.
        guard leavingNoLog else { return }
        do { try checkpoint.get() } catch { throw StorageError.wrapping(error) }
    }
}

extension GRDB.Database {
    /// Runs `body` in a read transaction. BEGIN and COMMIT are cached statements here, while GRDB prepares its own each time.
    fileprivate func inOneState<Result>(_ body: () throws -> Result) throws -> Result {
        _ = try withKept("BEGIN") { try $0.next() }
        defer {
            // Can fail only if the transaction has already ended.
            _ = try? withKept("COMMIT") { try $0.next() }
        }
        return try body()
    }
}

extension GRDB.Database {
    /// Runs `body` in a read transaction on the only connection of a store in memory. Like GRDB's `read`, but throws
    /// if the connection was closed while its reader was on the way here; `read` passes a null pointer to SQLite then.
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
    /// Runs `body`, whose statements are interrupted once the flag is set. GRDB interrupts only the statement that runs at that
    /// moment, and afterwards prevents only its own statements from beginning.
    fileprivate func interrupted<Result>(by flag: CancellationFlag, _ body: () throws -> Result) throws -> Result {
        let connection = try connection.handle
        // This number of SQLite's instructions takes far less than a millisecond.
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
