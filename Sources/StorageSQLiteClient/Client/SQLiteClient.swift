internal import Synchronization

/// An SQLite database, whichever engine runs it: a struct of closures, so that tests can replace them.
///
/// ```swift
/// @Dependency(\.sqliteClient) var client
///
/// try await client.write { db in
///     try db.execute("INSERT INTO users (name) VALUES (?)", ["Anna"])
/// }
/// let names = try await client.read { db in
///     try db.fetchAll("SELECT name FROM users", as: String.self)
/// }
/// ```
///
/// Bodies are synchronous, because they block the engine's connection: do anything slow, such as a network request,
/// before or after them. A body of `read` sees a single state of the database; a body of `write` is one transaction.
///
/// Isolation: `Sendable`; copies share the database.
public struct SQLiteClient: Sendable {
    /// A body as an engine sees it: it returns nothing, because `read` and `write` keep its result themselves.
    ///
    /// - Throws: Any error, which rolls the transaction back.
    public typealias Body = @Sendable (SQLiteTransaction) throws -> Void

    /// Runs a body in a reading transaction. A body may run more than once; earlier attempts are rolled back.
    ///
    /// - Throws: Errors of the body and the engine.
    public var reading: @Sendable (_ body: @escaping Body) async throws -> Void { didSet { holding = nil } }
    /// Runs a body in a transaction that is committed when it returns, and rolled back if it throws.
    ///
    /// - Throws: Errors of the body and the engine.
    public var writing: @Sendable (_ body: @escaping Body) async throws -> Void { didSet { holding = nil } }
    /// The path for the database: see ``SQLiteClient/path(fileName:context:)``. Nil if it is in memory.
    ///
    /// - Throws: As ``SQLiteClient/path(fileName:context:)``.
    public var contextSensitivePath: @Sendable () throws -> String?
    /// Begins to observe tables.
    ///
    /// - Throws: As ``observeTables(_:)``.
    public var observing: @Sendable (_ tables: Set<String>) async throws -> SQLiteTableChanges
    /// The identity of the database: the same object for all clients of it. Evaluated on each call, as a client may
    /// refer to the task's database.
    package var identity: @Sendable () -> Identity
    /// Opens a transaction for an asynchronous body without blocking a thread of the engine; nil if `reading` and
    /// `writing` block theirs. Closures that replace those also apply to such bodies.
    package var holding:
        (
            @Sendable (
                HeldTransaction.Kind, _ body: @escaping @Sendable (any HeldConnection) async throws -> Void
            ) async throws -> Void
        )?

    /// Creates a client with an engine of your own.
    ///
    /// It is considered a separate database: only the client and its copies take part in the transactions of its
    /// bodies.
    ///
    /// - Parameters:
    ///   - read: Runs a body in a reading transaction.
    ///   - write: Runs a body in a transaction that is committed when it returns, and rolled back if it throws.
    ///   - contextSensitivePath: The path for the database; nil if it is in memory.
    ///   - observeTables: Begins to observe tables. Commits that have returned before the call aren't reported; those
    ///     that begin after it has returned are.
    public init(
        read: @escaping @Sendable (_ body: @escaping Body) async throws -> Void,
        write: @escaping @Sendable (_ body: @escaping Body) async throws -> Void,
        contextSensitivePath: @escaping @Sendable () throws -> String? = { try SQLiteClient.path() },
        observeTables: @escaping @Sendable (_ tables: Set<String>) async throws -> SQLiteTableChanges
    ) {
        reading = read
        writing = write
        self.contextSensitivePath = contextSensitivePath
        observing = observeTables
        let own = Own()
        identity = { own }
    }

    /// Identifies a database.
    package typealias Identity = any AnyObject & Sendable

    /// The identity of a client that provides none.
    private final class Own: Sendable {}
}

// MARK: Bodies that are given the connection

extension SQLiteClient {
    /// Reads a single state of the database.
    ///
    /// - Throws: Errors of the body; ``SQLiteClientError`` with `read-only` if it tries to change something,
    ///   `cancelled` if the task is cancelled.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Result
    ) async throws -> Result {
        try await run(.read, body)
    }

    /// Changes the database: everything the body does is committed or, if it throws, nothing.
    ///
    /// The transaction is durable when the call returns, as configured for the database. A body may run more than once
    /// if the engine shares transactions between writers, as a store does: it must not have side effects outside of the
    /// database.
    ///
    /// - Throws: Errors of the body; ``SQLiteClientError`` with `busy` if another connection holds the lock for too
    ///   long, `cancelled` if the task is cancelled: nothing is changed then.
    @discardableResult
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Result
    ) async throws -> Result {
        try await run(.write, body)
    }

    private func run<Result: Sendable>(
        _ kind: HeldTransaction.Kind, _ body: @escaping @Sendable (SQLiteTransaction) throws -> Result
    ) async throws -> Result {
        try await SQLiteClientError.namingCancellation {
            try Task.checkCancellation()
            if let held = HeldTransaction.current(of: identity()) { return try await held.run(kind, body) }
            let result = BodyResult<Result>()
            let perform = kind == .read ? reading : writing
            try await withTaskCancellationHandler {
                try await perform { db in
                    result.value = try body(db)
                    // Not every engine checks whether the task was cancelled meanwhile.
                    if result.isCancelled { throw CancellationError() }
                }
            } onCancel: {
                result.cancel()
            }
            guard let value = result.value else { throw SQLiteClientError.bodyDidNotRun }
            return value
        }
    }
}

/// Passes a body's result around the engine's closure, and whether its task was cancelled.
private final class BodyResult<Value>: @unchecked Sendable {
    // Sound: written by the body, which returns before the engine's closure does and anyone reads it.
    var value: Value?
    private let cancelled = Atomic(false)

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
    func cancel() { cancelled.store(true, ordering: .relaxed) }
}

// MARK: Bodies that ask for the connection

extension SQLiteClient {
    /// Reads a single state of the database with an asynchronous body.
    ///
    /// ```swift
    /// let items = try await client.read {
    ///     @Dependency(\.defaultDatabase) var database
    ///     return try await database.read { db in try Item.fetchAll(db) }
    /// }
    /// ```
    ///
    /// Reads inside the body through `\.defaultDatabase`, `\.defaultSQLiteConnection`, `\.sqliteClient` or any client
    /// of the same database take place in the same transaction. The body may await; it holds a reading connection until
    /// it returns. Prefer a synchronous body, which holds it for no longer than needed.
    ///
    /// - Throws: Errors of the body; ``SQLiteClientError`` with `cancelled` if the task is cancelled.
    public func read<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await SQLiteClientError.namingCancellation { try await HeldTransaction.run(.read, of: self, body) }
    }

    /// Changes the database with an asynchronous body; see ``read(isolation:_:)``.
    ///
    /// The body holds the writer until it returns, so all other writers wait. Prefer a synchronous body.
    ///
    /// Inside a writing body, other bodies of the same database take part in its transaction. If one throws, only that
    /// one is rolled back, whether or not the error leaves the outer body. Concurrent ones wait for each other, so one
    /// must not wait for a writing task that was started beside it.
    ///
    /// - Throws: Errors of the body; ``SQLiteClientError`` with `cancelled` if the task is cancelled: nothing is
    ///   changed then.
    @discardableResult
    public func write<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await SQLiteClientError.namingCancellation { try await HeldTransaction.run(.write, of: self, body) }
    }
}

// MARK: Observation

extension SQLiteClient {
    /// Observes which of these tables later commits change.
    ///
    /// Names are compared as SQLite does, ignoring the case of ASCII letters. Tables that don't exist yet may be named.
    ///
    /// - Throws: ``SQLiteClientError`` with `invalid-argument` inside an asynchronous body of the same database,
    ///   `closed` if the database is closed, `cancelled` if the task is cancelled.
    public func observeTables(_ tables: Set<String>) async throws -> SQLiteTableChanges {
        // An engine with one connection would wait for the body.
        if HeldTransaction.current(of: identity())?.isOpen == true { throw SQLiteClientError.observesInside }
        return try await SQLiteClientError.namingCancellation { try await observing(tables) }
    }

    /// Calls a closure after later commits that change one of these tables.
    ///
    /// Calls don't overlap: all commits during a call are followed by one further call.
    ///
    /// - Returns: The observation, which ends with `cancel()`, or when the last reference to it is released.
    /// - Throws: The errors of ``observeTables(_:)``.
    public func observeTables(
        _ tables: Set<String>, _ onChange: @escaping @Sendable () -> Void
    ) async throws -> any SQLiteCancellable {
        let changes = try await observeTables(tables)
        return ObservationTask(
            Task {
                // A failed observation makes no further calls; use the sequence to receive the error.
                do { for try await _ in changes where !Task.isCancelled { onChange() } } catch {}
            })
    }
}

/// A task that ends when the last reference is released. Isolation: `Sendable`, immutable.
private final class ObservationTask: SQLiteCancellable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    func cancel() { task.cancel() }

    deinit { task.cancel() }
}
