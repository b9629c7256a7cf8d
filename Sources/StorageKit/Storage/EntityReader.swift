internal import CSQLite
public import GRDB
public import StorageCore
public import StorageEntities
internal import StorageLog

/// A state of a store that entities are read from: the store as it is (``Storage``) or as it was (``StorageSnapshot``).
public protocol EntityReader: Sendable {
    /// Runs `body` on the state, in which the tables of these entities can be read.
    func reading<Result: Sendable>(
        _ tables: [String], _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result
}

extension Storage: EntityReader {
    public func reading<Result: Sendable>(
        _ tables: [String], _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await read(body)
    }

    /// Runs queries of your own on one state of the store.
    public func read<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try checkWaitsForNoBody(writes: false)
        return try await engine.read(body)
    }
}

extension EntityReader {
    /// The entity with this id, nil where there is none.
    public func get<E: RegisteredEntity>(_ type: E.Type, id: E.Id) async throws -> E? {
        let table = EntityTables.of(E.Record.self)
        let key = E.Record.key(of: id)
        return try await reading([table.name]) { db in
            try table.first(db, table.selectByKey) { try $0.bind(key, at: 1) }
        }
    }

    /// Every entity of a type, in the order of a column; in the order of the key where none is named.
    public func all<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: String? = nil, ascending: Bool = true
    ) async throws -> [E] {
        let table = EntityTables.of(E.Record.self)
        let order = try table.order(by: column, ascending: ascending)
        return try await reading([table.name]) { db in try table.entities(db, table.select + order) { _ in } }
    }

    /// A page of entities.
    ///
    /// - Parameters:
    ///   - limit: How many at the most; 0 or more.
    ///   - offset: How many to leave out first; 0 or more.
    /// - Throws: ``StorageError`` with `invalid-argument` for a negative limit or offset.
    public func page<E: RegisteredEntity>(
        _ type: E.Type, orderBy column: String? = nil, ascending: Bool = true, limit: Int, offset: Int = 0
    ) async throws -> RepoPage<E> {
        guard limit >= 0, offset >= 0, limit < Int.max else {
            throw StorageError(
                .invalidArgument, "A page can't have limit \(limit) and offset \(offset).",
                remedy: "Use numbers of 0 or more.")
        }
        let table = EntityTables.of(E.Record.self)
        let order = try table.order(by: column, ascending: ascending)
        let found = try await reading([table.name]) { db in
            // One more than asked for tells whether there are more.
            try table.entities(db, table.select + order + " LIMIT ?1 OFFSET ?2") { row in
                row.bind(Int64(limit) + 1, at: 1)
                row.bind(Int64(offset), at: 2)
            }
        }
        let items = Array(found.prefix(limit))
        return RepoPage(items: items, nextOffset: offset + items.count, hasMore: found.count > limit)
    }

    /// How many entities of a type there are.
    public func count<E: RegisteredEntity>(_ type: E.Type) async throws -> Int {
        let name = E.Record.databaseTableName
        let sql = "SELECT count(*) FROM \(quoted(name))"
        return try await reading([name]) { db in Int(try db.integer(sql) { _ in } ?? 0) }
    }

    /// Whether there is an entity with this id.
    public func exists<E: RegisteredEntity>(_ type: E.Type, id: E.Id) async throws -> Bool {
        let table = EntityTables.of(E.Record.self)
        let key = E.Record.key(of: id)
        let sql = "SELECT 1 FROM \(quoted(table.name)) WHERE \(quoted(table.keyColumn)) = ?1"
        return try await reading([table.name]) { db in try db.integer(sql) { try $0.bind(key, at: 1) } != nil }
    }
}

/// A page of results.
public struct RepoPage<Item: Sendable>: Sendable {
    public let items: [Item]
    /// The offset of the page that follows.
    public let nextOffset: Int
    public let hasMore: Bool
}

extension EntityTable {
    func order(by column: String?, ascending: Bool) throws -> String {
        let key = quoted(keyColumn)
        let direction = ascending ? "ASC" : "DESC"
        guard let column else { return " ORDER BY \(key) \(direction)" }
        // The key as the last word makes the order total, so that pages neither repeat nor leave out.
        return " ORDER BY \(try self.column(named: column)) \(direction), \(key) \(direction)"
    }

    package func entities(
        _ db: GRDB.Database, _ sql: String, _ bind: (RowWriter) throws -> Void
    ) throws -> [Record.E] {
        try db.withKept(sql) { rows in
            try bind(rows.parameters)
            return try fetch(rows)
        }
    }

    package func first(
        _ db: GRDB.Database, _ sql: String, _ bind: (RowWriter) throws -> Void
    ) throws -> Record.E? {
        try entities(db, sql, bind).first
    }
}

extension GRDB.Database {
    fileprivate func integer(_ sql: String, _ bind: (RowWriter) throws -> Void) throws -> Int64? {
        try withKept(sql) { rows in
            try bind(rows.parameters)
            return try rows.next() ? try rows.row.integer(at: 0) : nil
        }
    }
}
