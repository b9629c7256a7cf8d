public import GRDB
public import StorageEntities

/// A query over an entity's rows as they were at a point; see ``StorageSnapshot/query(_:)``.
public struct SnapshotQuery<Entity: RegisteredEntity>: FetchableQuery {
    /// The conditions, orders and limits.
    public var request = QueryRequest<Entity>()
    private let snapshot: StorageSnapshot

    init(snapshot: StorageSnapshot) { self.snapshot = snapshot }

    /// Runs `body` on the tables that the query reads. If it reads one only, this may be a view.
    ///
    /// - Throws: What `body` throws; ``StorageError`` with `closed`.
    public func reading<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        guard let table = request.onlyTable else { return try await snapshot.reading(request.tables, body) }
        return try await snapshot.readingRows(of: table, body)
    }

    /// Returns the number of entities that matched.
    ///
    /// - Throws: ``StorageError`` as ``FetchableQuery`` says.
    public func count() async throws -> Int {
        let run = QueryRun(request: request)
        return try await reading { try run.count($0, isOfPast: true) }
    }
}
