/// Access to the database below the facade, as ``Context/storage`` returns it.
///
/// ```swift
/// let count = try await context.storage.pool.read { db in try UserRecord.fetchCount(db) }
/// ```
public struct StorageContext: Sendable {
    /// Reads and writes through GRDB's connection.
    public let pool: StoragePool
    /// The same access as an actor, with streams of the values that a closure reads.
    public let dbActor: DatabaseActor

    init(storage: Storage) {
        pool = StoragePool(storage: storage)
        dbActor = DatabaseActor(storage: storage)
    }
}
