internal import CSQLite
package import GRDB
package import StorageCore
internal import StorageLog

/// One search, ready to run on a connection.
package struct Search<E: RegisteredEntity>: Sendable {
    let indexes: SearchIndexes
    let query: String
    let limit: Int
    let offset: Int
    let syntax: SearchSyntax
    let weights: [String: Double]
    let excerpt: SearchExcerpt?
    /// Only rows for which this is true.
    package let condition: RowPredicate?
    /// Conditions on related rows, all of which must be met.
    package let relations: [RelatedCondition]

    package init(
        indexes: SearchIndexes, query: String, limit: Int, offset: Int = 0, syntax: SearchSyntax = .simple,
        weights: [String: Double] = [:], excerpt: SearchExcerpt? = nil, condition: RowPredicate? = nil,
        relations: [RelatedCondition] = []
    ) throws {
        guard limit >= 0, offset >= 0 else {
            throw StorageError(
                .invalidArgument, "A search can't have limit \(limit) and offset \(offset).",
                remedy: "Use numbers of 0 or more.")
        }
        self.indexes = indexes
        self.query = query
        self.limit = limit
        self.offset = offset
        self.syntax = syntax
        self.weights = weights
        self.excerpt = excerpt
        self.condition = condition
        self.relations = relations
    }

    /// The rows that meet the condition, as a table to join the search with; its values come first.
    private func allowed(_ index: SearchIndex) throws -> (with: String, and: String, values: [StorageValue]) {
        guard condition != nil || !relations.isEmpty else { return ("", "", []) }
        let rows = RowRequest(predicate: condition, relations: relations)
        let allowed = try QuerySQL(rows, of: EntityTableCache.of(E.Record.self).queryTable).aggregate(
            "\(index.rowid) AS place")
        return ("storage_allowed AS (\(allowed.sql)), ", " AND rowid IN storage_allowed", allowed.values)
    }

    package func run(_ db: GRDB.Database) throws -> [SearchResult<E>] {
        let index = try indexes.index(of: E.Record.self, db)
        guard let expression = expression(index) else { return [] }
        let table = index.table
        let ranking = try ranking(index.columns)
        let allowed = try allowed(index)
        let first = allowed.values.count + 1
        let fits = "\(table) MATCH ?\(first)"
        // SQLite sorts, because FTS5 computes the rank of a row that it has sorted itself once more when it is read. An
        // excerpt needs an FTS5 cursor on the row: a second pass over the matches, without ranks.
        let walk =
            excerpt == nil
            ? "storage_found AS found" : "\(table) CROSS JOIN storage_found AS found ON found.place = +\(table).rowid"
        let sql = """
            WITH \(allowed.with)storage_found AS MATERIALIZED (
              SELECT rowid AS place, +rank AS rank FROM \(table)
              WHERE \(fits)\(allowed.and)\(ranking == nil ? "" : " AND rank MATCH ?\(first + 3)")
              ORDER BY +rank, rowid LIMIT ?\(first + 1) OFFSET ?\(first + 2)
            ) SELECT \(index.selected), found.rank, \(try excerptSQL(table: table, columns: index.columns, firstParameter: first)) FROM \(walk)
            CROSS JOIN \(index.entity) AS e ON e.\(index.rowid) = found.place
            \(excerpt == nil ? "" : "WHERE \(fits)") ORDER BY found.rank, found.place
            """
        let statement = try db.cachedStatement(sql: sql).sqliteStatement
        defer { sqlite3_reset(statement) }
        let parameters = RowWriter(statement: statement)
        let parameter = Int32(first)
        for (offset, value) in allowed.values.enumerated() { try parameters.bind(value, at: Int32(offset + 1)) }
        parameters.bind(expression, at: parameter)
        parameters.bind(Int64(limit), at: parameter + 1)
        parameters.bind(Int64(offset), at: parameter + 2)
        if let ranking { parameters.bind(ranking, at: parameter + 3) }
        if let excerpt {
            parameters.bind(excerpt.start, at: parameter + 4)
            parameters.bind(excerpt.end, at: parameter + 5)
            if case .snippet(let ellipsis, _) = excerpt.form { parameters.bind(ellipsis, at: parameter + 6) }
        }
        let row = RowReader(statement: statement)
        let count = index.selectedCount
        var results: [SearchResult<E>] = []
        while try step(row) {
            results.append(
                SearchResult(
                    entity: try E.Record(reading: row).asEntity(), rank: try row.real(at: count),
                    snippet: excerpt == nil || row.isNull(at: count + 1) ? nil : try row.text(at: count + 1)))
        }
        return results
    }

    package func count(_ db: GRDB.Database) throws -> Int {
        let index = try indexes.index(of: E.Record.self, db)
        guard let expression = expression(index) else { return 0 }
        let allowed = try allowed(index)
        let with = allowed.with.isEmpty ? "" : "WITH \(allowed.with.dropLast(2)) "
        let text = "\(index.table) MATCH ?\(allowed.values.count + 1)\(allowed.and)"
        let statement = try db.cachedStatement(
            sql: "\(with)SELECT count(*) FROM \(index.table) WHERE \(text)"
        ).sqliteStatement
        defer { sqlite3_reset(statement) }
        let parameters = RowWriter(statement: statement)
        for (offset, value) in allowed.values.enumerated() { try parameters.bind(value, at: Int32(offset + 1)) }
        parameters.bind(expression, at: Int32(allowed.values.count + 1))
        return try step(RowReader(statement: statement)) ? Int(sqlite3_column_int64(statement, 0)) : 0
    }

    /// The parsed expression; nil if only FTS5 can parse it, or if it is empty.
    ///
    /// - Parameter tokenizer: The index's tokenizer, which splits texts into words.
    package func expression(tokenizer: String) -> SearchExpression? {
        guard syntax == .simple else { return nil }
        return SearchTextParser.expression(query, keepsSigns: SearchIndex.keepsSigns(tokenizer))
    }

    private func expression(_ index: SearchIndex) -> String? {
        switch syntax {
        case .simple: expression(tokenizer: index.tokenizer)?.text
        case .fts5: query
        }
    }

    private func ranking(_ columns: [String]) throws -> String? {
        guard !weights.isEmpty else { return nil }
        for (name, weight) in weights {
            _ = try columnIndex(of: name, in: columns)
            guard weight.isFinite else {
                throw StorageError(.invalidArgument, "\(weight) can't be a weight.", remedy: "Use a finite number.")
            }
        }
        return "bm25(\(columns.map { "\(weights[$0] ?? 1)" }.joined(separator: ", ")))"
    }

    private func columnIndex(of name: String, in columns: [String]) throws -> Int {
        if let columnIndex = columns.firstIndex(of: name) { return columnIndex }
        throw StorageError(
            .invalidName, "The full-text index of \"\(E.Record.databaseTableName)\" has no column \"\(name)\".",
            remedy: "It has \(columns.joined(separator: ", ")).")
    }

    private func excerptSQL(table: String, columns: [String], firstParameter first: Int) throws -> String {
        guard let excerpt else { return "NULL" }
        let columnIndex =
            switch excerpt.source {
            case .best: -1
            case .index(let columnIndex): columnIndex
            case .name(let name): try columnIndex(of: name, in: columns)
            }
        guard columnIndex < columns.count, columnIndex >= -1 else {
            throw StorageError(
                .invalidArgument,
                "The full-text index has \(columns.count) columns; there is no column \(columnIndex).",
                remedy: "Use a number from 0 to \(columns.count - 1), or the column's name.")
        }
        switch excerpt.form {
        case .highlight: return "highlight(\(table), \(columnIndex), ?\(first + 4), ?\(first + 5))"
        case .snippet(_, let words):
            guard (1...64).contains(words) else {
                throw StorageError(
                    .invalidArgument, "A snippet can't have \(words) words.", remedy: "Use a number from 1 to 64.")
            }
            return "snippet(\(table), \(columnIndex), ?\(first + 4), ?\(first + 5), ?\(first + 6), \(words))"
        }
    }

    private func step(_ row: RowReader) throws -> Bool {
        switch storage_step(row.statement) {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        case let code:
            let error = Connection(of: row).error(code)
            guard code & 0xFF == SQLITE_ERROR else { throw error }
            throw StorageError(
                .invalidQuery, "The search expression is invalid: \(error.message)",
                remedy: "Correct the FTS5 expression, or use the simple syntax for text that people type.",
                cause: error)
        }
    }
}
