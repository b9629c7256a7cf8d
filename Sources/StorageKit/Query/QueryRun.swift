internal import GRDB
internal import StorageCore
internal import StorageLog
internal import StorageProjections

/// Answers a request on a connection: the one place where queries outside and inside of transactions meet.
struct QueryRun<E: RegisteredEntity> {
    let request: QueryRequest<E>

    func fetch(_ db: GRDB.Database, limit: Int? = nil) throws -> [E] {
        let limit = [request.limit, limit].compactMap { $0 }.min()
        return try QuerySQL(request).select(limit: limit).run(db) { statement in
            try E.Record.entities(reading: StatementRows(statement: statement))
        }
    }

    func count(_ db: GRDB.Database) throws -> Int {
        guard case .integer(let count) = try QuerySQL(request).aggregate("count(*)").value(db) else { return 0 }
        return Int(count)
    }

    func exists(_ db: GRDB.Database) throws -> Bool { try !fetch(db, limit: 1).isEmpty }

    func aggregate(_ function: String, _ column: String, _ db: GRDB.Database) throws -> StorageValue {
        let query = try QuerySQL(request)
        return try query.aggregate("\(function)(\(try query.column(named: column)))").value(db)
    }

    func deleteAll(_ db: GRDB.Database) throws -> Int { try QuerySQL(request).delete().change(db) }

    func updateAll(_ assignments: [ColumnAssignment], now: StorageValue, _ db: GRDB.Database) throws -> Int {
        try QuerySQL(request).update(assignments, now: now)?.change(db) ?? 0
    }

    func explain(_ db: GRDB.Database) throws -> QueryExplanation {
        let text = try QuerySQL(request).select(limit: request.limit)
        let plan = QuerySQL<E>.Text(sql: "EXPLAIN QUERY PLAN \(text.sql)", values: text.values)
        let lines = try plan.run(db) { statement in
            let rows = StatementRows(statement: statement)
            var lines: [String] = []
            while try rows.next() { lines.append(try rows.row.text(at: 3)) }
            return lines
        }
        return QueryExplanation(sql: text.sql, values: text.values, plan: lines)
    }
}

extension QueryRun {
    func page(_ db: GRDB.Database, after cursor: PageCursor?, size: Int) throws -> QueryPage<E> {
        guard size > 0 else {
            throw StorageError(.misuse, "A page can't have \(size) rows.", remedy: "Ask for one or more.")
        }
        let query = try QuerySQL(request)
        let order = query.totalOrder
        let signature = PageCursor.signature(E.Record.databaseTableName, order)
        if let cursor { try cursor.check(signature, order.count) }
        let text = try query.select(limit: size + 1, after: cursor.map { Self.after($0.values, order) })
        let places = try order.map { ordering in
            guard let place = query.place(of: ordering.column) else {
                throw StorageError(
                    .invalidName, "There is no column \"\(ordering.column)\" to page by.",
                    remedy: "Order by a column of the entity.")
            }
            return Int32(place)
        }
        return try text.run(db) { statement in
            let rows = StatementRows(statement: statement)
            var items: [E] = []
            var next: PageCursor?
            while try rows.next() {
                if items.count == size { return QueryPage(items: items, next: next) }
                items.append(try E.Record(reading: rows.row).asEntity())
                if items.count == size {
                    next = PageCursor(signature: signature, values: places.map { rows.row.value(at: $0) })
                }
            }
            return QueryPage(items: items, next: nil)
        }
    }

    /// The rows behind one in an order: those behind it in the first column, or level there and behind in the second …
    private static func after(_ values: [StorageValue], _ order: [RowOrdering]) -> RowPredicate {
        var alternatives: [RowPredicate] = []
        var level: [RowPredicate] = []
        for (value, ordering) in zip(values, order) {
            let column = ordering.column
            let behind: RowPredicate =
                switch (value, ordering.order) {
                case (.null, .ascending): .not(.isNull(column: column))
                case (.null, .descending): .constant(false)
                case (_, .ascending):
                    .comparison(column: column, .greater, .value(value), collation: ordering.collation)
                case (_, .descending):
                    .any([
                        .comparison(column: column, .less, .value(value), collation: ordering.collation),
                        .isNull(column: column),
                    ])
                }
            alternatives.append(.all(level + [behind]))
            level.append(.comparison(column: column, .same, .value(value), collation: ordering.collation))
        }
        return .any(alternatives)
    }
}
