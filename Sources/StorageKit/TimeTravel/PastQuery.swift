public import GRDB
public import StorageProjections

/// A query over an entity's rows as they were at a point; see ``PastStorage/query(_:)``.
public struct PastQuery<Entity: RegisteredEntity>: FetchableQuery {
    public var request = QueryRequest<Entity>()
    private let past: PastStorage

    init(past: PastStorage) { self.past = past }

    public func reading<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await past.reading([Entity.Record.databaseTableName], body)
    }
}
