public import GRDB
public import StorageCore
public import StorageEntities
internal import StorageHistory
internal import StorageLog

extension Storage {
    /// Returns the store as of a point, which is read with the same calls as the live store.
    ///
    /// ```swift
    /// let before = try await storage.asOf(.commit(41))
    /// let old = try await before.get(User.self, id: "1")
    /// let minors = try await before.query(User.self).where { $0.age < 18 }.count()
    /// ```
    ///
    /// An entity's table is created on its first read, in a temporary database that is deleted with the snapshot. Either the
    /// later events are undone or the earlier ones replayed, whichever touches less. All entities show the same moment. The
    /// tables of the most recently read moments are kept.
    ///
    /// Some reads of a large table don't create it, unless they are frequent. For a moment within the last 1,024 events, all
    /// reads but searches, queries with related rows, and SQL of your own use the live table, with the rows laid over it that
    /// have changed since. For an older one, reads of few rows by their keys (`get`, `exists`, and queries with a
    /// condition on the key, such as `$0.id > "x"`) follow the events of these rows; so they don't see a row that
    /// another program has deleted without an event.
    ///
    /// - Parameter schema: Whether entities have the current schema, which today's types can read, or the schema that was
    ///   recorded.
    /// - Throws: `not-found` for a point that isn't in the log.
    public func asOf(_ point: StoragePoint, schema: SnapshotSchema = .current) async throws -> StorageSnapshot {
        let snapshots = snapshots
        let engine = engine
        let state = try await engine.readLong { try snapshots.state(at: point, of: $0, schema: schema) }
        return StorageSnapshot(engine: engine, state: state)
    }
}

/// A store as of one point of its history: see ``EntityReader`` for most of its calls.
///
/// ```swift
/// let yesterday = try await storage.asOf(.time(Date(timeIntervalSinceNow: -86_400)))
/// let user = try await yesterday.get(User.self, id: "1")
/// let count = try await yesterday.query(Order.self).where { $0.status == "open" }.count()
/// ```
///
/// Isolation: `Sendable`; reads wait for each other.
public struct StorageSnapshot: EntityReader {
    private let engine: StorageEngine
    private let state: MaterializedSnapshot

    init(engine: StorageEngine, state: MaterializedSnapshot) {
        self.engine = engine
        self.state = state
    }

    /// The position whose state the snapshot shows.
    public var position: Int64 { state.position }

    /// The names of the entities that can be read.
    public var entities: [String] { state.catalog.live.map(\.name) }

    /// Returns a query over an entity's rows as of the point.
    public func query<E: RegisteredEntity>(_ type: E.Type) -> SnapshotQuery<E> { SnapshotQuery(snapshot: self) }

    /// Returns the entities whose indexed columns matched a text at the point, best first. The index is the one declared today.
    ///
    /// ```swift
    /// let before = try await storage.asOf(.commit(41))
    /// let found = try await before.search(Article.self, query: "swift")
    /// ```
    ///
    /// See ``Storage/search(_:query:limit:offset:syntax:weights:excerpt:)``.
    ///
    /// - Throws: ``StorageError`` with `not-found` if there is no index, `invalid-query` for invalid text in the FTS5 syntax.
    public func search<E: RegisteredEntity>(
        _ type: E.Type, query: String, limit: Int = 50, offset: Int = 0, syntax: SearchSyntax = .simple,
        weights: [String: Double] = [:], excerpt: SearchExcerpt? = nil
    ) async throws -> [SearchResult<E>] {
        let search = try Search<E>(
            indexes: SearchIndexes(), query: query, limit: limit, offset: offset, syntax: syntax, weights: weights,
            excerpt: excerpt)
        let state = state
        let name = E.Record.databaseTableName
        return try await engine.readLong { live in try state.search(name, from: live) { try search.run($0) } }
    }

    /// Like ``search(_:query:limit:offset:syntax:weights:excerpt:)``, with a few marked words around each match.
    ///
    /// - Parameter snippetColumn: The column to show, by its index among the indexed columns, starting at 0.
    /// - Throws: ``StorageError`` with `not-found` if there is no index, `invalid-query` for invalid text in the FTS5 syntax.
    public func searchWithSnippets<E: RegisteredEntity>(
        _ type: E.Type, query: String, snippetColumn: Int = 0, limit: Int = 50
    ) async throws -> [SearchResult<E>] {
        try await search(type, query: query, limit: limit, excerpt: .snippet(columnIndex: snippetColumn))
    }

    /// Returns the number of entities that matched a text at the point.
    ///
    /// - Throws: ``StorageError`` with `not-found` if there is no index, `invalid-query` for invalid text in the FTS5 syntax.
    public func searchCount<E: RegisteredEntity>(
        _ type: E.Type, query: String, syntax: SearchSyntax = .simple
    ) async throws -> Int {
        let search = try Search<E>(
            indexes: SearchIndexes(), query: query, limit: 0, offset: 0, syntax: syntax, weights: [:], excerpt: nil)
        let state = state
        let name = E.Record.databaseTableName
        return try await engine.readLong { live in try state.search(name, from: live) { try search.count($0) } }
    }

    /// Runs SQL of your own on the tables as of the point.
    ///
    /// ```swift
    /// let total = try await storage.asOf(.commit(41)).read(["orders"]) { db in
    ///     try Double.fetchOne(db, sql: "SELECT sum(total) FROM orders") ?? 0
    /// }
    /// ```
    ///
    /// - Parameter tables: The entities that `body` reads; all if none is named, which costs more.
    /// - Throws: What `body` throws; ``StorageError``: `closed`, `not-found` for a table that didn't exist then.
    public func read<Result: Sendable>(
        _ tables: [String] = [], _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await reading(tables.isEmpty ? entities : tables, body)
    }

    /// - Throws: What `body` throws; ``StorageError``: `closed`, `not-found` for a table that didn't exist then.
    public func reading<Result: Sendable>(
        _ tables: [String], _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        let state = state
        return try await engine.readLong { live in
            // Only the program's own SQL runs in it.
            try state.read(tables, from: live) { db in try db.connection.allowingAttachment { try body(db) } }
        }
    }

    /// Runs `body`, which reads no other table, on a table of any size: it may be a view, which has no rowid.
    ///
    /// - Parameter condition: A condition without SQL that all rows meet that `body` reads; nil if it may read any row.
    func readingRows<Result: Sendable>(
        of table: String, matching condition: RowPredicate? = nil,
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        let state = state
        return try await engine.readLong { live in
            try state.readRows(of: table, matching: condition, from: live) { db in
                try db.connection.allowingAttachment { try body(db) }
            }
        }
    }
}

extension StorageSnapshot: PastReader {}

extension StorageSnapshot: CustomStringConvertible {
    /// What it is a snapshot of: `snapshot @140`.
    public var description: String { "snapshot @\(position)" }
}
