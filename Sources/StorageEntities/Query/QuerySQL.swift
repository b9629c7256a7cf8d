internal import CSQLite
package import GRDB
package import StorageCore
package import StorageLog

/// A request as SQL, ready to run on a connection.
package struct QuerySQL {
    package let request: RowRequest
    package let table: QueryTable

    /// - Throws: `invalid-argument` for a negative limit or offset; what is wrong with the request from the beginning.
    package init(_ request: RowRequest, of table: QueryTable) throws {
        if let invalid = request.invalid { throw invalid }
        self.request = request
        self.table = table
        guard request.limit ?? 0 >= 0, request.offset >= 0 else {
            throw StorageError(
                .invalidArgument, "A query can't have limit \(request.limit ?? 0) and offset \(request.offset).",
                remedy: "Use numbers of 0 or more.")
        }
    }

    /// The text of a statement and the values of its parameters.
    package struct Text {
        package var sql: String
        package var values: [StorageValue]

        package init(sql: String, values: [StorageValue] = []) {
            self.sql = sql
            self.values = values
        }
    }

    private func condition(_ extra: RowPredicate? = nil) throws -> Text {
        var parts: [Text] = []
        let all = [request.predicate, extra].compactMap { $0 }
        if let first = all.first {
            let predicate = try PredicateSQL(all.count == 1 ? first : .all(all), name: table.column(named:))
            parts.append(Text(sql: predicate.text, values: predicate.values))
        }
        guard !request.relations.isEmpty else {
            return parts.first.map { Text(sql: " WHERE \($0.sql)", values: $0.values) } ?? Text(sql: "")
        }
        parts += try request.relations.map { try $0.sql(of: table, as: quoted(table.stored)) }
        return Text(
            sql: " WHERE " + parts.map { "(\($0.sql))" }.joined(separator: " AND "), values: parts.flatMap(\.values))
    }

    /// The orderings with the key behind them, so that the order is total.
    package var totalOrder: [RowOrdering] {
        let direction = request.orderings.last?.order ?? .ascending
        let keys = table.key.map { table.columns[$0].name }
        // A collation may consider different keys equal: then the keys themselves must decide.
        let decisive = request.orderings.filter { $0.collation == nil || $0.collation == .binary }
        let missing = keys.filter { key in !decisive.contains { $0.column == key } }
        return request.orderings + missing.map { RowOrdering($0, direction) }
    }

    private func order(_ order: [RowOrdering]? = nil) throws -> String {
        let terms = try (order ?? totalOrder).map { try $0.sql(table.column(named:)) }
        return terms.isEmpty ? "" : " ORDER BY " + terms.joined(separator: ", ")
    }

    private func window(_ limit: Int?, _ offset: Int) -> Text {
        guard limit != nil || offset > 0 else { return Text(sql: "") }
        return Text(
            sql: " LIMIT ? OFFSET ?", values: [.integer(Int64(limit ?? -1)), .integer(Int64(offset))])
    }

    /// - Parameter behind: The condition of the rows behind one: an offset counts from the beginning, not from that row.
    package func select(limit: Int?, after behind: RowPredicate? = nil) throws -> Text {
        let condition = try condition(behind)
        let window = window(limit, behind == nil ? request.offset : 0)
        return Text(
            sql: table.select + condition.sql + (try order()) + window.sql, values: condition.values + window.values)
    }

    /// The neighbours of a row in one direction; the first or last rows if there is no row.
    ///
    /// - Parameter values: The row's values in ``totalOrder``.
    package func neighbours(of values: [StorageValue]?, backwards: Bool, limit: Int) throws -> Text {
        let order = totalOrder.map {
            backwards
                ? RowOrdering($0.column, $0.order == .ascending ? .descending : .ascending, collation: $0.collation)
                : $0
        }
        let condition = try condition(values.map { Self.behind($0, order) })
        return Text(
            sql: "\(table.select)\(condition.sql)\(try self.order(order)) LIMIT ?",
            values: condition.values + [.integer(Int64(limit))])
    }

    /// A select over the rows that the request means, its window included.
    package func aggregate(_ expression: String) throws -> Text {
        let condition = try condition()
        let window = window(request.limit, request.offset)
        let name = quoted(table.stored)
        if window.sql.isEmpty {
            return Text(sql: "SELECT \(expression) FROM \(name)\(condition.sql)", values: condition.values)
        }
        return Text(
            sql: "SELECT \(expression) FROM (SELECT * FROM \(name)\(condition.sql)\(try order())\(window.sql))",
            values: condition.values + window.values)
    }

    /// How many rows meet the condition, counted up to a limit.
    package func count(upTo limit: Int) throws -> Text {
        let condition = try condition()
        return Text(
            sql: "SELECT count(*) FROM (SELECT 1 FROM \(quoted(table.stored))\(condition.sql) LIMIT ?)",
            values: condition.values + [.integer(Int64(limit))])
    }

    /// How many rows meet the condition in several sources together, without those in others.
    package func count(in added: [String], without subtracted: [String]) throws -> Text {
        let condition = try condition()
        func counts(_ sources: [String]) -> String {
            sources.map { "(SELECT count(*) FROM \($0) AS \(quoted(table.stored))\(condition.sql))" }.joined(
                separator: " + ")
        }
        let count = added.count + subtracted.count
        return Text(
            sql: "SELECT \(counts(added)) - (\(counts(subtracted)))",
            values: Array(repeatElement(condition.values, count: count).joined()))
    }

    /// The condition of a delete or update. A window is kept by choosing the keys first.
    package func target(_ extra: RowPredicate? = nil) throws -> Text {
        guard request.limit != nil || request.offset > 0 else { return try condition(extra) }
        let condition = try condition(extra)
        let window = window(request.limit, request.offset)
        let key = table.key.map { quoted(table.columns[$0].stored) }.joined(separator: ", ")
        return Text(
            sql:
                " WHERE (\(key)) IN (SELECT \(key) FROM \(quoted(table.stored))\(condition.sql)\(try order())\(window.sql))",
            values: condition.values + window.values)
    }

    package func delete() throws -> Text {
        let target = try target()
        return Text(sql: "DELETE FROM \(quoted(table.stored))\(target.sql)", values: target.values)
    }
}

extension QuerySQL {
    /// The rows behind one in an order: those behind it in the first column, or level there and behind in the second …
    package static func behind(_ values: [StorageValue], _ order: [RowOrdering]) -> RowPredicate {
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

extension QuerySQL.Text {
    /// Prepares the statement, binds its values, and hands it over.
    package func run<Result>(_ db: GRDB.Database, _ body: (StatementRows) throws -> Result) throws -> Result {
        try db.withKept(sql) { rows in
            let statement = rows.row.statement
            let wanted = Int(sqlite3_bind_parameter_count(statement))
            guard wanted == values.count else {
                throw StorageError(
                    .invalidArgument,
                    "The condition has \(wanted) placeholders and \(values.count) values: \(sql.prefix(200))",
                    remedy: "Write a plain ? for each value in SQL of your own.")
            }
            let parameters = rows.parameters
            for (index, value) in values.enumerated() { try parameters.bind(value, at: Int32(index + 1)) }
            return try body(rows)
        }
    }

    /// The one value of a statement that answers one.
    package func value(_ db: GRDB.Database) throws -> StorageValue {
        try run(db) { rows in
            try rows.next() ? rows.row.value(at: 0) : .null
        }
    }

    /// Runs a statement that changes rows.
    ///
    /// - Returns: How many rows it changed itself.
    package func change(_ db: GRDB.Database) throws -> Int {
        try run(db) { rows in
            while try rows.next() {}
            return Connection(of: rows.row).changes
        }
    }
}
