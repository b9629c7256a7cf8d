internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageLog
internal import StorageProjections

/// A request as SQL, ready to run on a connection.
struct QuerySQL<E: RegisteredEntity> {
    let request: QueryRequest<E>
    private let table: EntityTable<E.Record>

    init(_ request: QueryRequest<E>) throws {
        self.request = request
        table = EntityTables.of(E.Record.self)
        guard request.limit ?? 0 >= 0, request.offset >= 0 else {
            throw StorageError(
                .misuse, "A query can't have limit \(request.limit ?? 0) and offset \(request.offset).",
                remedy: "Use numbers from 0 on.")
        }
    }

    /// The text of a statement and the values of its parameters.
    struct Text {
        var sql: String
        var values: [StorageValue] = []
    }

    private func condition(_ extra: RowPredicate? = nil) throws -> Text {
        let all = [request.predicate, extra].compactMap { $0 }
        guard let first = all.first else { return Text(sql: "") }
        let predicate = try PredicateSQL(all.count == 1 ? first : .all(all), name: table.column)
        return Text(sql: " WHERE \(predicate.text)", values: predicate.values)
    }

    /// The orderings with the key behind them, so that the order is total.
    var totalOrder: [RowOrdering] {
        if request.orderings.contains(where: { $0.column == table.keyColumn }) { return request.orderings }
        return request.orderings + [RowOrdering(table.keyColumn, request.orderings.last?.order ?? .ascending)]
    }

    private func order() throws -> String {
        " ORDER BY " + (try totalOrder.map { try $0.sql(table.column) }.joined(separator: ", "))
    }

    private func window(_ limit: Int?, _ offset: Int) -> Text {
        guard limit != nil || offset > 0 else { return Text(sql: "") }
        return Text(
            sql: " LIMIT ? OFFSET ?", values: [.integer(Int64(limit ?? -1)), .integer(Int64(offset))])
    }

    func select(limit: Int?, after extra: RowPredicate? = nil) throws -> Text {
        let condition = try condition(extra)
        let window = window(limit, request.offset)
        return Text(
            sql: table.select + condition.sql + (try order()) + window.sql, values: condition.values + window.values)
    }

    /// A select over the rows that the request means, its window included.
    func aggregate(_ expression: String) throws -> Text {
        let condition = try condition()
        let window = window(request.limit, request.offset)
        let name = quoted(table.name)
        if window.sql.isEmpty {
            return Text(sql: "SELECT \(expression) FROM \(name)\(condition.sql)", values: condition.values)
        }
        return Text(
            sql: "SELECT \(expression) FROM (SELECT * FROM \(name)\(condition.sql)\(try order())\(window.sql))",
            values: condition.values + window.values)
    }

    /// The condition of a delete or update. A window is kept by choosing the keys first.
    private func target(_ extra: RowPredicate? = nil) throws -> Text {
        guard request.limit != nil || request.offset > 0 else { return try condition(extra) }
        let condition = try condition(extra)
        let window = window(request.limit, request.offset)
        let key = quoted(table.keyColumn)
        return Text(
            sql:
                " WHERE \(key) IN (SELECT \(key) FROM \(quoted(table.name))\(condition.sql)\(try order())\(window.sql))",
            values: condition.values + window.values)
    }

    func delete() throws -> Text {
        let target = try target()
        return Text(sql: "DELETE FROM \(quoted(table.name))\(target.sql)", values: target.values)
    }

    /// Changes only rows in which something differs, so that an update that changes nothing writes nothing.
    func update(_ assignments: [ColumnAssignment], now: StorageValue) throws -> Text? {
        guard !assignments.isEmpty else { return nil }
        var sets: [String] = []
        var differences: [String] = []
        var values: [StorageValue] = []
        for assignment in assignments {
            let name = try table.column(named: assignment.column)
            guard assignment.column != table.keyColumn else {
                throw StorageError(
                    .misuse, "updateAll can't change the key \"\(assignment.column)\".",
                    remedy: "Delete the rows and save them under their new ids.")
            }
            sets.append("\(name) = ?")
            differences.append("NOT storage_identical(\(name), ?)")
            values.append(assignment.value)
        }
        let compared = values
        if E.Record.stampsUpdatedAt, let stamp = table.columns.last?.name,
            !assignments.contains(where: { $0.column == stamp })
        {
            sets.append("\(quoted(stamp)) = ?")
            values.append(now)
        }
        let target = try target()
        let word = target.sql.isEmpty ? " WHERE " : " AND "
        // The condition of the query is a group of its own: OR in it must not reach beyond.
        let condition =
            target.sql.isEmpty ? "" : " WHERE (" + target.sql.dropFirst(" WHERE ".count) + ")"
        return Text(
            sql:
                "UPDATE \(quoted(table.name)) SET \(sets.joined(separator: ", "))\(condition)\(word)(\(differences.joined(separator: " OR ")))",
            values: values + target.values + compared)
    }

    func column(named name: String) throws -> String { try table.column(named: name) }

    func place(of name: String) -> Int? { table.columns.firstIndex { $0.name == name } }
}

extension QuerySQL.Text {
    /// Prepares the statement, binds its values, and hands it over.
    func run<Result>(_ db: GRDB.Database, _ body: (OpaquePointer) throws -> Result) throws -> Result {
        let statement = try db.cachedStatement(sql: sql).sqliteStatement
        defer {
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        let wanted = Int(sqlite3_bind_parameter_count(statement))
        guard wanted == values.count else {
            throw StorageError(
                .misuse, "The condition has \(wanted) placeholders and \(values.count) values: \(sql.prefix(200))",
                remedy: "Write a plain ? for each value in SQL of your own.")
        }
        let parameters = RowWriter(statement: statement)
        for (index, value) in values.enumerated() { try parameters.bind(value, at: Int32(index + 1)) }
        return try body(statement)
    }

    /// The one value of a statement that answers one.
    func value(_ db: GRDB.Database) throws -> StorageValue {
        try run(db) { statement in
            let rows = StatementRows(statement: statement)
            return try rows.next() ? rows.row.value(at: 0) : .null
        }
    }

    /// Runs a statement that changes rows.
    ///
    /// - Returns: How many rows it changed itself.
    func change(_ db: GRDB.Database) throws -> Int {
        try run(db) { statement in
            let rows = StatementRows(statement: statement)
            while try rows.next() {}
            return Int(sqlite3_changes(sqlite3_db_handle(statement)))
        }
    }
}
