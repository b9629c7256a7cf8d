import GRDB

/// Documents and searches, by GRDB with an FTS5 table built by hand.
extension GRDBContenders {
    static func insert(_ batches: DocumentBatches) -> [Contender] {
        [
            inserter(ContenderName.cachedStatementWithoutIndex, batches, isIndexed: false) { documents, db in
                try GRDBDocuments.insertWithCachedStatement(documents, db)
            },
            inserter(ContenderName.codableRecord, batches, isIndexed: true) { documents, db in
                for document in documents { try document.insert(db) }
            },
            inserter(ContenderName.handwrittenRecord, batches, isIndexed: true) { documents, db in
                for document in documents { try HandwrittenDocument(document).insert(db) }
            },
            inserter(ContenderName.cachedStatement, batches, isIndexed: true) { documents, db in
                try GRDBDocuments.insertWithCachedStatement(documents, db)
            },
        ]
    }

    static func search(_ searches: DocumentSearches) -> [Contender] {
        searchers(searches, GRDBDocuments.searchSQL) { _ in true }
    }

    static func searchWithSnippets(_ searches: DocumentSearches) -> [Contender] {
        searchers(searches, GRDBDocuments.snippetSQL) { $0 != nil }
    }

    /// - Parameter isWanted: Whether a row counts, by its snippet.
    private static func searchers(
        _ searches: DocumentSearches, _ sql: String, _ isWanted: @escaping @Sendable (String?) -> Bool
    ) -> [Contender] {
        [
            searcher(ContenderName.codableRecord, searches) { db, expression in
                try FoundDocument.fetchAll(db, sql: sql, arguments: [expression, searches.limit])
                    .count { isWanted($0.snippet) }
            },
            searcher(ContenderName.handwrittenRecord, searches) { db, expression in
                try HandwrittenFoundDocument.fetchAll(db, sql: sql, arguments: [expression, searches.limit])
                    .count { isWanted($0.snippet) }
            },
            searcher(ContenderName.cachedStatement, searches) { db, expression in
                try HandwrittenFoundDocument.fetchAll(
                    db.cachedStatement(sql: sql), arguments: [expression, searches.limit]
                ).count { isWanted($0.snippet) }
            },
        ]
    }

    private static func inserter(
        _ name: String, _ batches: DocumentBatches, isIndexed: Bool,
        insert: @escaping @Sendable (ArraySlice<Document>, Database) throws -> Void
    ) -> Contender {
        Contender(
            name,
            prepare: { workspace in
                let pool = try GRDBStore.open(workspace.path("grdb.sqlite"))
                try await pool.write { db in
                    try GRDBDocuments.create(db, isIndexed: isIndexed)
                    try GRDBDocuments.insertWithCachedStatement(batches.before, db)
                }
                return pool
            },
            run: { pool in
                for documents in batches.commits { try await pool.write { try insert(documents, $0) } }
                return []
            },
            cleanup: { pool in
                let (rows, matches) = try await pool.read { db in
                    let sql = "SELECT count(*) FROM document_ft WHERE document_ft MATCH ?"
                    return (
                        try Document.fetchCount(db),
                        isIndexed ? try Int.fetchOne(db, sql: sql, arguments: [batches.probe]) : nil
                    )
                }
                try batches.check(name, rows: rows, matches: matches)
                try pool.close()
            })
    }

    private static func searcher(
        _ name: String, _ searches: DocumentSearches,
        search: @escaping @Sendable (Database, String) throws -> Int
    ) -> Contender {
        Contender(
            name,
            prepare: { workspace in
                let pool = try GRDBStore.open(workspace.path("grdb.sqlite"))
                try await pool.write { db in
                    try GRDBDocuments.create(db, isIndexed: true)
                    try GRDBDocuments.insertWithCachedStatement(searches.documents, db)
                }
                return pool
            },
            run: { pool in
                var found = 0
                for text in searches.texts {
                    found += try await pool.read { try search($0, GRDBDocuments.expression(text)) }
                }
                try searches.check(name, found)
                return []
            },
            cleanup: { try $0.close() })
    }
}
