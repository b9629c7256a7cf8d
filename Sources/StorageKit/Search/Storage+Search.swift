internal import CSQLite
internal import GRDB
public import StorageCore
internal import StorageLog
public import StorageProjections

extension Storage {
    /// The entities whose indexed columns fit a text, best first. The entity needs a full-text index:
    /// ``Schema/addFullTextSearch(table:columns:tokenizer:prefixes:)``.
    ///
    /// ```swift
    /// for result in try await storage.search(Article.self, query: "swift concur*") {
    ///     print(result.entity.title, result.rank)
    /// }
    /// ```
    ///
    /// What was saved before the call is found by it.
    ///
    /// - Parameters:
    ///   - query: What to look for. In the ``SearchSyntax/simple`` syntax nothing that a person types is an error.
    ///   - weights: How much columns count, by name; 1 where none is given.
    ///   - excerpt: The marked text that each result's `snippet` is to hold.
    /// - Throws: `not-found` where there is no index, `invalid-query` for text that isn't FTS5 syntax when that is
    ///   asked for.
    public func search<E: RegisteredEntity>(
        _ type: E.Type, query: String, limit: Int = 50, offset: Int = 0, syntax: SearchSyntax = .simple,
        weights: [String: Double] = [:], excerpt: SearchExcerpt? = nil
    ) async throws -> [SearchResult<E>] {
        let search = try Search<E>(
            indexes: searchIndexes, query: query, limit: limit, offset: offset, syntax: syntax, weights: weights,
            excerpt: excerpt)
        return try await engine.read { try search.run($0) }
    }

    /// Like ``search(_:query:limit:offset:syntax:weights:excerpt:)``, with a few marked words around each match.
    ///
    /// - Parameter snippetColumn: The column to show, by its place among the indexed columns, from 0 on.
    public func searchWithSnippets<E: RegisteredEntity>(
        _ type: E.Type, query: String, snippetColumn: Int = 0, limit: Int = 50
    ) async throws -> [SearchResult<E>] {
        try await search(type, query: query, limit: limit, excerpt: .snippet(place: snippetColumn))
    }

    /// How many entities fit a text.
    public func searchCount<E: RegisteredEntity>(
        _ type: E.Type, query: String, syntax: SearchSyntax = .simple
    ) async throws -> Int {
        let search = try Search<E>(
            indexes: searchIndexes, query: query, limit: 0, offset: 0, syntax: syntax, weights: [:], excerpt: nil)
        return try await engine.read { try search.count($0) }
    }
}

/// One search, ready to run on a connection.
struct Search<E: RegisteredEntity>: Sendable {
    let indexes: SearchIndexes
    let query: String
    let limit: Int
    let offset: Int
    let syntax: SearchSyntax
    let weights: [String: Double]
    let excerpt: SearchExcerpt?

    init(
        indexes: SearchIndexes, query: String, limit: Int, offset: Int, syntax: SearchSyntax,
        weights: [String: Double], excerpt: SearchExcerpt?
    ) throws {
        guard limit >= 0, offset >= 0 else {
            throw StorageError(
                .misuse, "A search can't have limit \(limit) and offset \(offset).", remedy: "Use numbers from 0 on.")
        }
        self.indexes = indexes
        self.query = query
        self.limit = limit
        self.offset = offset
        self.syntax = syntax
        self.weights = weights
        self.excerpt = excerpt
    }

    func run(_ db: GRDB.Database) throws -> [SearchResult<E>] {
        let index = try indexes.index(of: E.Record.self, db)
        guard let expression = expression(index) else { return [] }
        let table = index.table
        let ranking = try ranking(index.columns)
        let fits = "\(table) MATCH ?1"
        // SQLite sorts, because FTS5 ranks a row that it has sorted by itself once more when the rank is asked for. An
        // excerpt needs a cursor of FTS5 that stands on the row: a second walk over what fits, without ranks.
        let walk =
            excerpt == nil
            ? "storage_found AS found" : "\(table) CROSS JOIN storage_found AS found ON found.place = +\(table).rowid"
        let sql = """
            WITH storage_found AS MATERIALIZED (
              SELECT rowid AS place, +rank AS rank FROM \(table)
              WHERE \(fits)\(ranking == nil ? "" : " AND rank MATCH ?4") ORDER BY +rank, rowid LIMIT ?2 OFFSET ?3
            ) SELECT \(index.selected), found.rank, \(try excerptSQL(table, index.columns)) FROM \(walk)
            CROSS JOIN \(index.entity) AS e ON e.\(index.rowid) = found.place
            \(excerpt == nil ? "" : "WHERE \(fits)") ORDER BY found.rank, found.place
            """
        let statement = try db.cachedStatement(sql: sql).sqliteStatement
        defer { sqlite3_reset(statement) }
        let parameters = RowWriter(statement: statement)
        parameters.bind(expression, at: 1)
        parameters.bind(Int64(limit), at: 2)
        parameters.bind(Int64(offset), at: 3)
        if let ranking { parameters.bind(ranking, at: 4) }
        if let excerpt {
            parameters.bind(excerpt.start, at: 5)
            parameters.bind(excerpt.end, at: 6)
            if case .snippet(let ellipsis, _) = excerpt.form { parameters.bind(ellipsis, at: 7) }
        }
        let row = RowReader(statement: statement)
        let count = index.selectedCount
        var results: [SearchResult<E>] = []
        while try step(statement, db) {
            results.append(
                SearchResult(
                    entity: try E.Record(reading: row).asEntity(), rank: try row.real(at: count),
                    snippet: excerpt == nil || row.isNull(at: count + 1) ? nil : try row.text(at: count + 1)))
        }
        return results
    }

    func count(_ db: GRDB.Database) throws -> Int {
        let index = try indexes.index(of: E.Record.self, db)
        guard let expression = expression(index) else { return 0 }
        let table = index.table
        let statement = try db.cachedStatement(sql: "SELECT count(*) FROM \(table) WHERE \(table) MATCH ?1")
            .sqliteStatement
        defer { sqlite3_reset(statement) }
        RowWriter(statement: statement).bind(expression, at: 1)
        return try step(statement, db) ? Int(sqlite3_column_int64(statement, 0)) : 0
    }

    private func expression(_ index: SearchIndex) -> String? {
        switch syntax {
        case .simple: SearchText.expression(query, keepsSigns: index.keepsSigns)
        case .fts5: query
        }
    }

    private func ranking(_ columns: [String]) throws -> String? {
        guard !weights.isEmpty else { return nil }
        for (name, weight) in weights {
            _ = try place(of: name, in: columns)
            guard weight.isFinite else {
                throw StorageError(.misuse, "\(weight) can't be a weight.", remedy: "Use a finite number.")
            }
        }
        return "bm25(\(columns.map { "\(weights[$0] ?? 1)" }.joined(separator: ", ")))"
    }

    private func place(of name: String, in columns: [String]) throws -> Int {
        if let place = columns.firstIndex(of: name) { return place }
        throw StorageError(
            .invalidName, "The full-text index of \"\(E.Record.databaseTableName)\" has no column \"\(name)\".",
            remedy: "It has \(columns.joined(separator: ", ")).")
    }

    private func excerptSQL(_ table: String, _ columns: [String]) throws -> String {
        guard let excerpt else { return "NULL" }
        let place =
            switch excerpt.source {
            case .best: -1
            case .place(let place): place
            case .name(let name): try place(of: name, in: columns)
            }
        guard place < columns.count, place >= -1 else {
            throw StorageError(
                .misuse, "The full-text index has \(columns.count) columns; there is no column \(place).",
                remedy: "Use a number from 0 to \(columns.count - 1), or the column's name.")
        }
        switch excerpt.form {
        case .highlight: return "highlight(\(table), \(place), ?5, ?6)"
        case .snippet(_, let words):
            guard (1...64).contains(words) else {
                throw StorageError(
                    .misuse, "A snippet can't have \(words) words.", remedy: "Use a number from 1 to 64.")
            }
            return "snippet(\(table), \(place), ?5, ?6, ?7, \(words))"
        }
    }

    private func step(_ statement: OpaquePointer, _ db: GRDB.Database) throws -> Bool {
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = StorageError.sqlite(sqlite3_db_handle(statement), code: code, sql: nil)
            guard code & 0xFF == SQLITE_ERROR else { throw error }
            throw StorageError(
                .invalidQuery, "The search isn't understood: \(error.message)",
                remedy: "Correct the FTS5 expression, or use the simple syntax for text that people type.",
                cause: error)
        }
    }
}
