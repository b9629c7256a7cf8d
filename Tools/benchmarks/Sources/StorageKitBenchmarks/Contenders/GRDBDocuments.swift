import GRDB

/// The table of documents and its full-text index, as GRDB's guide builds them.
enum GRDBDocuments {
    static let insertSQL = "INSERT INTO document (id, title, body, updatedAt) VALUES (?, ?, ?, ?)"
    private static let matchSQL = """
        FROM document JOIN document_ft ON document_ft.rowid = document.rowid AND document_ft MATCH ?
        ORDER BY rank LIMIT ?
        """
    static let searchSQL = "SELECT document.*, rank, NULL AS snippet \(matchSQL)"
    static let snippetSQL =
        "SELECT document.*, rank, snippet(document_ft, -1, '<b>', '</b>', '...', 32) AS snippet \(matchSQL)"

    /// - Parameter isIndexed: With an FTS5 table with external content, which triggers keep in step.
    static func create(_ db: Database, isIndexed: Bool) throws {
        try db.create(table: "document") { table in
            table.primaryKey("id", .text)
            table.column("title", .text).notNull()
            table.column("body", .text).notNull()
            table.column("updatedAt", .integer).notNull()
        }
        guard isIndexed else { return }
        try db.create(virtualTable: "document_ft", using: FTS5()) { table in
            table.synchronize(withTable: "document")
            table.tokenizer = .porter()
            table.column("title")
            table.column("body")
        }
    }

    static func insertWithCachedStatement(_ documents: some Sequence<Document>, _ db: Database) throws {
        let statement = try db.cachedStatement(sql: insertSQL)
        for document in documents {
            try statement.execute(arguments: [document.id, document.title, document.body, document.updatedAt])
        }
    }

    /// What a person types, as FTS5 wants it: every word must occur.
    static func expression(_ search: String) -> String {
        search.split(separator: " ").map { "\"\($0)\"" }.joined(separator: " ")
    }

    /// How many rows searches find, each up to a limit: what every contender must find.
    static func rowsFound(_ searches: [String], limit: Int, among documents: [Document]) throws -> Int {
        let queue = try DatabaseQueue()
        return try queue.write { db in
            try create(db, isIndexed: true)
            try insertWithCachedStatement(documents, db)
            return try searches.reduce(0) { sum, search in
                let sql = "SELECT count(*) FROM document_ft WHERE document_ft MATCH ?"
                return sum + min(limit, try Int.fetchOne(db, sql: sql, arguments: [expression(search)]) ?? 0)
            }
        }
    }
}
