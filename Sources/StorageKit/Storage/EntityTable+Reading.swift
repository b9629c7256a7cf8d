internal import GRDB
internal import StorageCore
internal import StorageLog

// Reads of an entity's table, on any connection and state.
extension EntityTable where Record.E: RegisteredEntity {
    package func entity(_ key: StorageValue, in db: GRDB.Database) throws -> Record.E? {
        try entities(selectByKey, in: db) { try $0.bind(key, at: 1) }.first
    }

    /// The condition that the row with a key meets.
    func condition(_ key: StorageValue) -> RowPredicate { .comparison(column: keyColumn, .equal, .value(key)) }

    package func all(orderBy column: String?, ascending: Bool, in db: GRDB.Database) throws -> [Record.E] {
        try entities(select + order(by: column, ascending: ascending), in: db) { _ in }
    }

    func page(
        orderBy column: String?, ascending: Bool, limit: Int, offset: Int, in db: GRDB.Database
    ) throws -> RepoPage<Record.E> {
        guard limit >= 0, offset >= 0, limit < Int.max else {
            throw StorageError(
                .invalidArgument, "A page can't have limit \(limit) and offset \(offset).",
                remedy: "Use numbers of 0 or more.")
        }
        let order = try order(by: column, ascending: ascending)
        // One more than requested shows whether there are more.
        let found = try entities(select + order + " LIMIT ?1 OFFSET ?2", in: db) { row in
            row.bind(Int64(limit) + 1, at: 1)
            row.bind(Int64(offset), at: 2)
        }
        let items = Array(found.prefix(limit))
        return RepoPage(items: items, nextOffset: offset + items.count, hasMore: found.count > limit)
    }

    func count(in db: GRDB.Database) throws -> Int {
        Int(try integer("SELECT count(*) FROM \(quoted(name))", in: db) { _ in } ?? 0)
    }

    func exists(_ key: StorageValue, in db: GRDB.Database) throws -> Bool {
        let sql = "SELECT 1 FROM \(quoted(name)) WHERE \(quoted(keyColumn)) = ?1"
        return try integer(sql, in: db) { try $0.bind(key, at: 1) } != nil
    }

    func position(_ key: StorageValue, in db: GRDB.Database) throws -> Int64? {
        let sql = "SELECT _position FROM \(quoted(name)) WHERE \(quoted(keyColumn)) = ?1"
        return try integer(sql, in: db) { try $0.bind(key, at: 1) }
    }

    private func order(by column: String?, ascending: Bool) throws -> String {
        let key = quoted(keyColumn)
        let direction = ascending ? "ASC" : "DESC"
        guard let column else { return " ORDER BY \(key) \(direction)" }
        // Sorting by the key last makes the order total, so that pages neither repeat nor skip rows.
        return " ORDER BY \(try self.column(named: column)) \(direction), \(key) \(direction)"
    }

    private func entities(
        _ sql: String, in db: GRDB.Database, bind: (RowWriter) throws -> Void
    ) throws -> [Record.E] {
        try StorageError.explaining(table: name, in: db) {
            try db.withKept(sql) { rows in
                try bind(rows.parameters)
                return try fetch(rows)
            }
        }
    }

    private func integer(
        _ sql: String, in db: GRDB.Database, bind: (RowWriter) throws -> Void
    ) throws -> Int64? {
        try StorageError.explaining(table: name, in: db) {
            try db.withKept(sql) { rows in
                try bind(rows.parameters)
                return try rows.next() ? try rows.row.integer(at: 0) : nil
            }
        }
    }
}
