public import GRDB
internal import StorageCore
internal import StorageLog

/// The store's connections, for SQL of your own.
///
/// ```swift
/// let db = context.storage.dbActor
/// let names = try await db.read { db in try String.fetchAll(db, sql: "SELECT name FROM users") }
/// ```
///
/// Changes that ``write(_:)`` makes in entity tables are captured as one commit, with the task's actor and correlation, like
/// any other write. There is no other access to the writing connection, so the file's lock can't be bypassed.
public actor DatabaseActor {
    let storage: Storage

    init(storage: Storage) { self.storage = storage }

    /// Runs `body` on one state of the store.
    ///
    /// - Throws: What `body` throws; ``StorageError``: `closed`, `read-only` for SQL that writes, also to temporary tables,
    ///   `invalid-argument` if `body` changes a setting that other reads depend on, `database` for SQL that SQLite refuses.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result { try await storage.read(body) }

    /// Runs `body` as one commit: if it throws, nothing is changed.
    ///
    /// - Throws: What `body` throws; ``StorageError`` as ``Storage`` says.
    @discardableResult
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result { try await storage.write { tx in try body(tx.database) as Result }.value }
}
