public import GRDB

/// The store's connections as GRDB users know them. Not GRDB's own pool: its writer would leave the log behind.
public struct StoragePool: Sendable {
    let storage: Storage
    /// Who makes the changes, and why, where the task doesn't say.
    var actor: String?
    var reason: String?

    /// Reads one state of the store.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result { try await storage.read(body) }

    /// Changes the store as one commit. The body runs inside a transaction, so `VACUUM` isn't for it.
    @discardableResult
    public func write<Result: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Result
    ) async throws -> Result {
        try await storage.writing(actor: actor, reason: reason) { try body($0.database) }
    }
}
