internal import CSQLite
internal import StorageCore
package import StorageHistory
package import StorageLog

/// Compares a full-text index with the rows that it should hold, without writing to the store.
///
/// FTS5's own check is a command that needs to write, and a verification may run beside another process that writes. So
/// the index and the texts are copied into a temporary file and checked there.
package struct FullTextCheck {
    package let index: FullTextIndex
    package let catalog: Catalog
    package let database: Connection
    package let scratch: Connection

    package init(index: FullTextIndex, catalog: Catalog, database: Connection, scratch: Connection) {
        self.index = index
        self.catalog = catalog
        self.database = database
        self.scratch = scratch
    }

    /// Returns a description of the problem; nil if there is none.
    package func run() throws -> String? {
        let expected = try index.sql(catalog)
        let select = try PreparedStatement(database, "SELECT sql FROM sqlite_schema WHERE name = ?1")
        select.bind(text: index.table, at: 1)
        guard try select.step(), select.string(0) == expected else {
            return "the full-text index isn't what was declared"
        }
        let content = "fts content"
        let columns = try index.storedColumns(catalog).map(quoted)
        let entity = catalog.entity(id: index.entity)
        let rowid = entity?.rowidName ?? "rowid"
        try run("CREATE TABLE \(quoted(content))(place INTEGER PRIMARY KEY, \(columns.joined(separator: ", ")))")
        try copy(
            "SELECT \(rowid), \(columns.joined(separator: ", ")) FROM \(quoted(entity?.stored ?? ""))",
            into: quoted(content), count: columns.count + 1)
        try run(index.sql(named: quoted(index.table), content: content, rowid: "place", catalog))
        for table in index.shadowTables {
            try run("DELETE FROM \(quoted(table))")
            let width = try PreparedStatement(database, "SELECT * FROM \(quoted(table))")
            try copy(
                "SELECT * FROM \(quoted(table))", into: quoted(table), count: Int(sqlite3_column_count(width.pointer)))
        }
        defer {
            // The scratch file is thrown away as a whole; what is left in it does no harm.
            _ = try? run("DROP TABLE \(quoted(index.table))")
            _ = try? run("DROP TABLE \(quoted(content))")
        }
        do {
            // FTS5 must drop what it has cached of the index, which was empty before.
            try run("PRAGMA writable_schema = RESET")
            try run("INSERT INTO \(quoted(index.table))(\(quoted(index.table)), rank) VALUES ('integrity-check', 1)")
            return nil
        } catch let error as StorageError where !error.isOfTheMachine {
            return "the full-text index doesn't fit the rows: \(error.message)"
        }
    }

    private func run(_ sql: String) throws { try PreparedStatement(scratch, sql).execute() }

    private func copy(_ sql: String, into table: String, count: Int) throws {
        let source = try PreparedStatement(database, sql)
        let placeholders = (1...count).map { "?\($0)" }.joined(separator: ", ")
        let target = try PreparedStatement(scratch, "INSERT INTO \(table) VALUES (\(placeholders))")
        while try source.step() {
            for column in 0..<Int32(count) {
                let code = sqlite3_bind_value(
                    target.pointer, column + 1, sqlite3_column_value(source.pointer, column))
                guard code == SQLITE_OK else {
                    throw StorageError.sqlite(code: code, message: String(cString: sqlite3_errstr(code)), sql: nil)
                }
            }
            try target.execute()
        }
    }
}
