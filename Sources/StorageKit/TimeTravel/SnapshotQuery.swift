public import GRDB
public import StorageEntities

/// A query over an entity's rows as they were at a point; see ``StorageSnapshot/query(_:)``.
///
/// ```swift
/// let released = try await storage.asOf(.tag("release-3"))
/// let users = try await released.query(User.self).where { $0.isActive == true }.orderBy(\.name).fetch()
/// ```
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

    /// Runs `body`, which reads only rows that the request means.
    func readingMatches<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        guard let table = request.onlyTable else { return try await snapshot.reading(request.tables, body) }
        return try await snapshot.readingRows(of: table, matching: request.rows.predicate, body)
    }
}

extension SnapshotQuery: PastQuery {}
