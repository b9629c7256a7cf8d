public import GRDB

/// The store's connections, with the calls that GRDB users know. It isn't GRDB's own pool, whose writer would bypass the log.
///
/// ```swift
/// let pool = context.storage.pool
/// try await pool.write { db in try db.execute(sql: "UPDATE users SET isActive = 0 WHERE lastSeen < '2026'") }
/// let count = try await pool.read { db in try UserRecord.fetchCount(db) }
/// ```
public struct StoragePool: Sendable {
    let storage: Storage
    /// The author of the changes and their reason, where the task has none.
    var actor: String?
    var reason: String?

    /// Runs `body` on one state of the store.
    ///
    /// - Throws: What `body` throws; ``StorageError``: `closed`, `read-only` for SQL that writes, also to temporary tables,
    ///   `invalid-argument` if `body` changes a setting that other reads depend on, `database` for SQL that SQLite refuses.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result { try await storage.read(body) }

    /// Runs `body` as one commit, inside a transaction; statements such as `VACUUM` can't run there.
    ///
    /// - Throws: What `body` throws; ``StorageError`` as ``Storage`` says. Nothing is changed then.
    @discardableResult
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await storage.write(actor: actor, reason: reason) { tx in try body(tx.database) as Result }.value
    }
}
