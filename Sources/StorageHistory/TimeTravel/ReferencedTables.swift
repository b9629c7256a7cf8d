internal import CSQLite
internal import StorageCore
package import StorageLog

/// Finds the tables that a query reads, by preparing it against empty ones.
package struct ReferencedTables {
    package let names: [String]
    /// Entities whose full-text index is read.
    package let searched: [String]

    /// The entities of a catalog that a query reads, by their names: their tables, through views, or their full-text
    /// indexes.
    package init(
        of sql: String, in catalog: Catalog, indexes: [FullTextIndex] = [], views: [SchemaStatement] = []
    ) throws {
        let tables = catalog.live.map { ($0.stored, $0.live.map(\.stored) + ["_position"]) }
        // Indexes of columns that didn't exist then, and views of tables that didn't, are left out.
        let others = indexes.compactMap { try? $0.sql(catalog) } + views.map(\.sql)
        let seen = try Self.tables(of: sql, in: tables, others)
        let isSearched = { (entity: CatalogEntity) in
            indexes.contains { $0.entity == entity.id && seen.contains($0.table.folded) }
        }
        names = catalog.live.filter { seen.contains($0.stored.folded) }.map(\.name)
        searched = catalog.live.filter(isSearched).map(\.name)
    }

    /// - Throws: SQLite's error for the query; `invalid-argument` if it isn't a single read-only query.
    package init(of sql: String, in tables: [(name: String, columns: [String])]) throws {
        let seen = try Self.tables(of: sql, in: tables)
        names = tables.map(\.name).filter { seen.contains($0.folded) }
        searched = []
    }

    /// - Parameter others: Statements that create views and indexes; those that fail are ignored.
    private static func tables(
        of sql: String, in tables: [(name: String, columns: [String])], _ others: [String] = []
    ) throws -> Set<ExactText> {
        let database = try Connection.inMemory()
        defer { database.close() }
        for table in tables {
            let columns = table.columns.map(quoted).joined(separator: ", ")
            try PreparedStatement(database, "CREATE TABLE \(quoted(table.name))(\(columns))").execute()
        }
        for other in others { try? PreparedStatement(database, other).execute() }
        let seen = SeenTables()
        sqlite3_set_authorizer(
            database.handle,
            { context, action, table, _, _, _ in
                if action == SQLITE_READ, let context, let table {
                    Unmanaged<SeenTables>.fromOpaque(context).takeUnretainedValue().add(String(cString: table))
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(seen).toOpaque())
        try withExtendedLifetime(seen) { _ = try PreparedStatement(query: sql, on: database) }
        sqlite3_set_authorizer(database.handle, nil, nil)
        // An EXPLAIN can't be explained, and reads nothing.
        let opened = try? ProgramTables(database).opened(by: sql).names
        return seen.names.union((opened ?? []).map(\.folded))
    }
}

private final class SeenTables {
    private(set) var names: Set<ExactText> = []
    func add(_ name: String) { names.insert(name.folded) }
}
