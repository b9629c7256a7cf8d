internal import CSQLite
internal import StorageCore
package import StorageHistory
package import StorageLog

/// Compares a full-text index with the rows that it should hold, without writing to the store.
///
/// FTS5's own check is a command that needs to write, and a verification may run beside another process that writes. So
/// the index and the texts are copied into a temporary file and checked there.
///
/// That check reads every page of the index and compares the words with the texts. It doesn't find words by the table with
/// the first word of each page, as a search does: so every page must be in that table, and every word is looked up.
/// The look-ups take about as long as FTS5's own check. A changed separator between words of the indexes for prefixes
/// isn't found.
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
        guard try index.isIntact(catalog, database) else { return "the full-text index isn't what was declared" }
        let content = "fts content"
        let columns = try index.storedColumns(catalog).map(quoted)
        let entity = catalog.entity(id: index.entity)
        let rowid = try entity?.rowid ?? "rowid"
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
            _ = try? run("DROP TABLE IF EXISTS \(quoted(Self.vocabulary))")
            _ = try? run("DROP TABLE \(quoted(index.table))")
            _ = try? run("DROP TABLE \(quoted(content))")
        }
        do {
            // FTS5 must drop what it has cached of the index, which was empty before.
            try run("PRAGMA writable_schema = RESET")
            try run("INSERT INTO \(quoted(index.table))(\(quoted(index.table)), rank) VALUES ('integrity-check', 1)")
            return try lostWords()
        } catch let error as StorageError where !error.isOfTheMachine {
            return "the full-text index doesn't fit the rows: \(error.message)"
        }
    }

    private static let vocabulary = "fts words"

    /// Looks for words that a search doesn't find.
    private func lostWords() throws -> String? {
        let (data, first) = (quoted("\(index.table)_data"), quoted("\(index.table)_idx"))
        // A page's row id is made of its segment, above bit 37, a kind, which is 0 for pages of words, and its number. Its bytes 2
        // and 3 are the offset of its list of words, which is empty if that is its length.
        let pages = try PreparedStatement(
            scratch,
            """
            SELECT id & 0x7FFFFFFF FROM \(data)
            WHERE id >= 1 << 37 AND ((id >> 31) & 63) = 0 AND hex(substr(block, 3, 2)) < printf('%04X', length(block))
                AND (id >> 37, id & 0x7FFFFFFF) NOT IN (SELECT segid, pgno >> 1 FROM \(first))
            LIMIT 1
            """)
        if try pages.step() { return "the full-text index doesn't list the words of its page \(pages.integer(0))" }
        pages.reset()
        try run(
            "CREATE VIRTUAL TABLE \(quoted(Self.vocabulary)) USING fts5vocab(\(quoted(index.table)), 'row')")
        // All words in their order on the left, one that is looked up on the right.
        let words = try PreparedStatement(
            scratch,
            """
            SELECT a.term FROM \(quoted(Self.vocabulary)) AS a LEFT JOIN \(quoted(Self.vocabulary)) AS b ON b.term = a.term
            WHERE b.doc IS NOT a.doc OR b.cnt IS NOT a.cnt LIMIT 1
            """)
        return try words.step() ? "a search for \(words.string(0).quotedAsText) doesn't find all of its rows" : nil
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
