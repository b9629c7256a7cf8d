internal import GRDB
internal import StorageCore
internal import StorageEntities
internal import StorageHistory
internal import StorageLog

/// Answers a request on a connection, for queries outside and inside of transactions alike.
struct QueryRun<E: RegisteredEntity> {
    let request: QueryRequest<E>

    private var sql: QuerySQL {
        get throws { try QuerySQL(request.rows, of: EntityTableCache.of(E.Record.self).queryTable) }
    }

    /// The statement that finds the rows.
    func statement() throws -> QuerySQL.Text { try sql.select(limit: request.rows.limit) }

    func explaining<Result>(_ db: GRDB.Database, _ body: () throws -> Result) throws -> Result {
        try StorageError.explaining(table: E.Record.databaseTableName, in: db, body)
    }

    func fetch(_ db: GRDB.Database, limit: Int? = nil) throws -> [E] {
        let limit = [request.rows.limit, limit].compactMap { $0 }.min()
        return try explaining(db) {
            var found = try EntityRows(request)
            _ = try sql.select(limit: limit).run(db) { try found.append($0) }
            try found.include(db)
            return found.entities
        }
    }

    /// - Parameter isOfPast: Whether the table may be a view of a ``LiveOverlay``.
    func count(_ db: GRDB.Database, isOfPast: Bool = false) throws -> Int {
        let count = try explaining(db) {
            let isWhole = request.rows.limit == nil && request.rows.offset == 0
            guard isOfPast, isWhole,
                let sources = try LiveOverlay.countedSources(of: E.Record.databaseTableName, in: db)
            else { return try sql.aggregate("count(*)").value(db) }
            return try sql.count(in: sources.added, without: sources.subtracted).value(db)
        }
        guard case .integer(let count) = count else { return 0 }
        return Int(count)
    }

    /// Reads no row, nor what it includes.
    func exists(_ db: GRDB.Database) throws -> Bool {
        try explaining(db) { try sql.select(limit: min(request.rows.limit ?? 1, 1)).run(db) { try $0.next() } }
    }

    func aggregate(
        _ function: String, of column: String, distinct: Bool = false, in db: GRDB.Database
    ) throws -> StorageValue {
        let query = try sql
        let name = try query.table.column(named: column)
        let call = "\(function)(\(distinct ? "DISTINCT " : "")\(name))"
        return try explaining(db) { try query.aggregate(call).value(db) }
    }

    func deleteAll(_ db: GRDB.Database) throws -> Int { try explaining(db) { try sql.delete().change(db) } }

    func updateAll(_ assignments: [StorageAssignment], now: StorageValue, _ db: GRDB.Database) throws -> Int {
        let columns = EntityTableCache.of(E.Record.self).columns
        return try explaining(db) {
            try sql.update(assignments, of: columns, stamp: stamp(now))?.change(db) ?? 0
        }
    }

    private func stamp(_ now: StorageValue) -> (column: String, now: StorageValue)? {
        guard E.Record.stampsUpdatedAt, let column = E.Record.schemaColumns.last?.name else { return nil }
        return (column, now)
    }

    func explain(_ db: GRDB.Database) throws -> QueryExplanation {
        let text = try sql.select(limit: request.rows.limit)
        let plan = QuerySQL.Text(sql: "EXPLAIN QUERY PLAN \(text.sql)", values: text.values)
        let lines = try explaining(db) {
            try plan.run(db) { rows in
                var lines: [String] = []
                while try rows.next() { lines.append(try rows.row.text(at: 3)) }
                return lines
            }
        }
        return QueryExplanation(
            sql: text.sql, values: text.values, plan: lines,
            warnings: try MissingIndexes(db).warnings(of: request.lookups))
    }
}

extension QueryRun {
    func page(_ db: GRDB.Database, after cursor: PageCursor?, size: Int) throws -> QueryPage<E> {
        guard size > 0 else {
            throw StorageError(
                .invalidArgument, "A page can't have \(size) rows.", remedy: "Use a number of at least 1.")
        }
        // A cursor doesn't know how many rows precede it, so a limit couldn't be kept across pages.
        guard request.rows.limit == nil else {
            throw StorageError(
                .invalidArgument, "A query with a limit can't be read in pages.",
                remedy: "Leave limit out of the query, and ask for pages of that size.")
        }
        let query = try sql
        let order = query.totalOrder
        let signature = PageCursor.signature(E.Record.databaseTableName, order)
        if let cursor { try cursor.check(signature, order.count) }
        let limit = min(size, RowRequest.unreachableCount) + 1
        let text = try query.select(limit: limit, after: cursor.map { QuerySQL.behind($0.values, order) })
        let indices = try order.map { ordering in
            guard let index = query.table.columnIndex(of: ordering.column) else {
                throw StorageError(
                    .invalidName, "There is no column \"\(ordering.column)\" to page by.",
                    remedy: "Order by a column of the entity.")
            }
            return Int32(index)
        }
        return try explaining(db) { try rows(text, of: signature, keyedBy: indices, size: size, in: db) }
    }

    private func rows(
        _ text: QuerySQL.Text, of signature: String, keyedBy indices: [Int32], size: Int, in db: GRDB.Database
    ) throws -> QueryPage<E> {
        var found = try EntityRows(request)
        let next = try text.run(db) { rows -> PageCursor? in
            var last: PageCursor?
            while try rows.next() {
                if found.entities.count == size { return last }
                try found.append(rows.row)
                if found.entities.count == size {
                    last = PageCursor(signature: signature, values: indices.map { rows.row.value(at: $0) })
                }
            }
            return nil
        }
        try found.include(db)
        return QueryPage(items: found.entities, next: next)
    }
}
