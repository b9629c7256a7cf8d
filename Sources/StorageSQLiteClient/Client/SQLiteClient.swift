internal import Synchronization

/// A database of SQLite, whichever engine runs it: a struct of closures, so that a test can put its own in their place.
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
/// A body is synchronous, because the engine's connection can do nothing else meanwhile: do what takes time, such as a
/// request, before or behind it. Bodies of `read` see one state of the database, those of `write` are one transaction.
///
/// Isolation: `Sendable`; copies share the database.
public struct SQLiteClient: Sendable {
    /// What a body is to an engine: `read` and `write` carry its result past it.
    public typealias Body = @Sendable (SQLiteTransaction) throws -> Void

    /// Runs a body in a reading transaction. A body may run more than once; what it did before is undone then.
    public var reading: @Sendable (_ body: @escaping Body) async throws -> Void { didSet { holding = nil } }
    /// Runs a body in a transaction that is committed when it returns, and undone where it throws.
    public var writing: @Sendable (_ body: @escaping Body) async throws -> Void { didSet { holding = nil } }
    /// Where a database belongs: see ``SQLiteClient/path(fileName:context:)``. Nil where it is in memory.
    public var contextSensitivePath: @Sendable () throws -> String?
    /// Begins to observe tables.
    public var observing: @Sendable (_ tables: Set<String>) async throws -> SQLiteTableChanges
    /// Which database this is: the same object for all clients of it. Asked at each call, as a client may be that of the
    /// task's database.
    package var identity: @Sendable () -> Identity
    /// Opens a transaction for a body that may wait, without a thread of the engine's; nil where `reading` and `writing` hold
    /// theirs. Closures that are put in their place count for such bodies, too.
    package var holding:
        (
            @Sendable (
                HeldTransaction.Kind, _ body: @escaping @Sendable (any HeldConnection) async throws -> Void
            ) async throws -> Void
        )?

    /// A client of an engine of your own.
    ///
    /// To others it is a database by itself: inside of its bodies only it and its copies work in their transaction.
    ///
    /// - Parameters:
    ///   - read: Runs a body in a reading transaction.
    ///   - write: Runs a body in a transaction that is committed when it returns, and undone where it throws.
    ///   - contextSensitivePath: Where a database belongs; nil where it is in memory.
    ///   - observeTables: Begins to observe tables: commits that have returned before aren't reported, those that begin
    ///     when it has returned are.
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

    /// Tells a database from others.
    package typealias Identity = any AnyObject & Sendable

    /// The identity of a client of which nothing else is known.
    private final class Own: Sendable {}
}

// MARK: Bodies that are given the connection

extension SQLiteClient {
    /// Reads one state of the database.
    ///
    /// - Throws: What the body throws, ``SQLiteClientError`` with `read-only` where it tries to change something,
    ///   `cancelled` where the task is.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Result
    ) async throws -> Result {
        try await run(.read, body)
    }

    /// Changes the database: all that the body does is committed, or, where it throws, nothing.
    ///
    /// The transaction is durable when the call returns, as the database is configured. A body may run more than once where
    /// the engine shares transactions between writers, as a store does: let it change nothing but the database.
    ///
    /// - Throws: What the body throws; ``SQLiteClientError`` with `busy` where another connection holds the lock for too long,
    ///   `cancelled` where the task is: then nothing is changed.
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
                    // Not every engine looks whether the task was cancelled meanwhile.
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

/// Carries what a body returns past the engine's closure, and that its task was cancelled into it.
private final class BodyResult<Value>: @unchecked Sendable {
    // Sound: written by the body, which has returned before the engine's closure does and anybody reads it.
    var value: Value?
    private let cancelled = Atomic(false)

    var isCancelled: Bool { cancelled.load(ordering: .relaxed) }
    func cancel() { cancelled.store(true, ordering: .relaxed) }
}

// MARK: Bodies that ask for the connection

extension SQLiteClient {
    /// Reads one state of the database with a body that asks for its connection.
    ///
    /// ```swift
    /// let items = try await client.read {
    ///     @Dependency(\.defaultDatabase) var database
    ///     return try await database.read { db in try Item.fetchAll(db) }
    /// }
    /// ```
    ///
    /// What is read inside through `\.defaultDatabase`, `\.defaultSQLiteConnection`, `\.sqliteClient` or any client of the
    /// same database is read in the same transaction. The body may await; it holds a reading connection until it returns.
    /// Prefer a body that is given its connection, which holds it for no longer than needed.
    ///
    /// - Throws: What the body throws; ``SQLiteClientError`` with `cancelled` where the task is.
    public func read<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await SQLiteClientError.namingCancellation { try await HeldTransaction.run(.read, of: self, body) }
    }

    /// Changes the database with a body that asks for its connection; see ``read(isolation:_:)``.
    ///
    /// It holds the writer until the body returns, so that all other writers wait. Prefer a body that is given its connection.
    ///
    /// Inside of a writing body, those of the same database are parts of its transaction. One that throws is undone by itself,
    /// whether or not the error leaves the body around it. Of several at the same time one waits for the other; so one must not
    /// wait for a task that was started beside it and writes.
    ///
    /// - Throws: What the body throws; ``SQLiteClientError`` with `cancelled` where the task is: then nothing is changed.
    @discardableResult
    public func write<Result>(
        isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
    ) async throws -> Result {
        try await SQLiteClientError.namingCancellation { try await HeldTransaction.run(.write, of: self, body) }
    }
}

// MARK: Observation

extension SQLiteClient {
    /// Which of these tables commits change, from now on.
    ///
    /// Names are compared as SQLite does, without regard to the case of A to Z. Tables that aren't there yet may be named.
    ///
    /// - Throws: ``SQLiteClientError`` with `invalid-argument` inside of a body without a parameter of the same database, `closed` where the
    ///   database is, `cancelled` where the task is.
    public func observeTables(_ tables: Set<String>) async throws -> SQLiteTableChanges {
        // An engine with one connection would wait for the body.
        if HeldTransaction.current(of: identity())?.isOpen == true { throw SQLiteClientError.observesInside }
        return try await SQLiteClientError.namingCancellation { try await observing(tables) }
    }

    /// Calls a closure after commits that change one of these tables, from now on.
    ///
    /// Calls don't overlap; commits that come during one are followed by one more.
    ///
    /// - Returns: What ends it: `cancel()`, or the end of the last reference to it.
    /// - Throws: As ``observeTables(_:)``.
    public func observeTables(
        _ tables: Set<String>, _ onChange: @escaping @Sendable () -> Void
    ) async throws -> any SQLiteCancellable {
        let changes = try await observeTables(tables)
        return ObservationTask(
            Task {
                // An observation that fails calls nobody any more; the sequence has the error for those who want it.
                do { for try await _ in changes where !Task.isCancelled { onChange() } } catch {}
            })
    }
}

/// A task that ends with the last reference to this. Isolation: `Sendable`, immutable.
private final class ObservationTask: SQLiteCancellable {
    private let task: Task<Void, Never>

    init(_ task: Task<Void, Never>) { self.task = task }

    func cancel() { task.cancel() }

    deinit { task.cancel() }
}
