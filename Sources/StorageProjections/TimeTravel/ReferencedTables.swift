internal import CSQLite
internal import StorageCore
package import StorageLog

/// Finds out which entities a query reads, by letting SQLite prepare it against empty tables.
package struct ReferencedTables {
    /// The names of the entities.
    package let names: [String]

    /// - Throws: What SQLite says of the query; `misuse` where it isn't one query that only reads.
    package init(of sql: String, in catalog: Catalog) throws {
        var pointer: OpaquePointer?
        let code = sqlite3_open_v2(
            ":memory:", &pointer, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let database = pointer else {
            throw StorageError.sqlite(code: code, message: "no memory for a database", sql: nil)
        }
        defer { sqlite3_close_v2(database) }
        for entity in catalog.live {
            let columns = entity.live.map { quoted($0.stored) } + ["_position"]
            try Statement(database, "CREATE TABLE \(quoted(entity.stored))(\(columns.joined(separator: ", ")))")
                .execute()
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
        try withExtendedLifetime(seen) { try Self.prepare(sql, database) }
        sqlite3_set_authorizer(database, nil, nil)
        names = catalog.live.filter { seen.names.contains($0.stored.folded) }.map(\.name)
    }

    private static func prepare(_ sql: String, _ database: OpaquePointer) throws {
        var statement: OpaquePointer?
        var rest = ""
        let code = sql.withCString { start -> Int32 in
            var tail: UnsafePointer<CChar>?
            let code = sqlite3_prepare_v2(database, start, -1, &statement, &tail)
            rest = tail.map { String(cString: $0) } ?? ""
            return code
        }
        defer { sqlite3_finalize(statement) }
        guard code == SQLITE_OK else { throw StorageError.sqlite(database, code: code, sql: sql) }
        let isAlone = rest.allSatisfy { $0.isWhitespace || $0 == ";" }
        guard let statement, isAlone, sqlite3_stmt_readonly(statement) != 0, sqlite3_column_count(statement) > 0 else {
            throw StorageError(
                .misuse, "\"\(sql.prefix(200))\" isn't a query.", remedy: "Write one SELECT; the past can't be changed."
            )
        }
    }
}

private final class SeenTables {
    private(set) var names: Set<ExactText> = []
    func add(_ name: String) { names.insert(name.folded) }
}
