public import GRDB

/// The store's connections as GRDB users know them. Not GRDB's own pool: its writer would leave the log behind.
public struct StoragePool: Sendable {
    let storage: Storage
    /// Who makes the changes, and why, where the task doesn't say.
    var actor: String?
    var reason: String?

    /// Reads one state of the store.
    ///
    /// - Throws: What `body` throws; ``StorageError``: `closed`, `read-only` for SQL that writes, `database` for SQL
    ///   that SQLite refuses.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result { try await storage.read(body) }

    /// Changes the store as one commit. The body runs inside a transaction, so `VACUUM` isn't for it.
    ///
    /// - Throws: What `body` throws; ``StorageError`` as ``Storage`` says. Nothing is changed then.
    @discardableResult
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await storage.write(actor: actor, reason: reason) { tx in try body(tx.database) as Result }.value
    }
}
