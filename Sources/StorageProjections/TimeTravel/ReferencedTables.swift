internal import CSQLite
internal import StorageCore
package import StorageLog

/// Finds out which tables a query reads, by letting SQLite prepare it against empty ones.
package struct ReferencedTables {
    package let names: [String]

    /// The entities of a catalog that a query reads, by their names.
    package init(of sql: String, in catalog: Catalog) throws {
        let found = try ReferencedTables(
            of: sql, in: catalog.live.map { ($0.stored, $0.live.map(\.stored) + ["_position"]) })
        let stored = Set(found.names.map(\.folded))
        names = catalog.live.filter { stored.contains($0.stored.folded) }.map(\.name)
    }

    /// - Throws: What SQLite says of the query; `misuse` where it isn't one query that only reads.
    package init(of sql: String, in tables: [(name: String, columns: [String])]) throws {
        var pointer: OpaquePointer?
        let code = sqlite3_open_v2(
            ":memory:", &pointer, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let database = pointer else {
            throw StorageError.sqlite(code: code, message: "no memory for a database", sql: nil)
        }
        defer { sqlite3_close_v2(database) }
        for table in tables {
            let columns = table.columns.map(quoted).joined(separator: ", ")
            try Statement(database, "CREATE TABLE \(quoted(table.name))(\(columns))").execute()
        }
        let seen = SeenTables()
        sqlite3_set_authorizer(
            database,
            { context, action, table, _, _, _ in
                if action == SQLITE_READ, let context, let table {
                    Unmanaged<SeenTables>.fromOpaque(context).takeUnretainedValue().add(String(cString: table))
                }
                return SQLITE_OK
            }, Unmanaged.passUnretained(seen).toOpaque())
        try withExtendedLifetime(seen) { _ = try Statement(query: sql, on: database) }
        sqlite3_set_authorizer(database, nil, nil)
        names = tables.map(\.name).filter { seen.names.contains($0.folded) }
    }
}

private final class SeenTables {
    private(set) var names: Set<ExactText> = []
    func add(_ name: String) { names.insert(name.folded) }
}
