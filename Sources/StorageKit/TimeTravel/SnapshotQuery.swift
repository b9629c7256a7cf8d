public import GRDB
public import StorageEntities

/// A query over an entity's rows as they were at a point; see ``StorageSnapshot/query(_:)``.
public struct SnapshotQuery<Entity: RegisteredEntity>: FetchableQuery {
    /// The conditions, orders and limits.
    public var request = QueryRequest<Entity>()
    private let snapshot: StorageSnapshot

    init(snapshot: StorageSnapshot) { self.snapshot = snapshot }

    /// - Throws: What `body` throws; ``StorageError`` with `closed`.
    public func reading<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await snapshot.reading(request.tables, body)
    }
}
