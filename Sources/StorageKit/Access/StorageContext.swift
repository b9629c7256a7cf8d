/// The ways to the database below the facade, as ``Context/storage`` returns them.
///
/// ```swift
/// let count = try await context.storage.pool.read { db in try UserRecord.fetchCount(db) }
/// ```
public struct StorageContext: Sendable {
    /// Reads and writes with the connection of GRDB.
    public let pool: StoragePool
    /// The same as an actor, with streams of what a closure reads.
    public let dbActor: DatabaseActor

    init(storage: Storage) {
        pool = StoragePool(storage: storage)
        dbActor = DatabaseActor(storage: storage)
    }
}
