internal import CSQLite
internal import StorageCore
internal import StorageLog

extension NetWindow {
    /// Brings a table from the position before the stretch to the last one of it.
    ///
    /// - Parameters:
    ///   - table: Its place in ``tables``.
    ///   - name: The table, as it stands in SQL; it has the entity's columns under their names.
    ///   - tombstones: The table that remembers the last position of deleted rows, of the shape of `storage_tombstone`.
    ///   - check: Called now and then; may throw to stop.
    /// - Throws: `conflict` where a row that takes a place comes before the row that leaves it: with events one by one
    ///   that can't happen.
    func apply(
        _ table: Int, to name: String, tombstones: String, _ database: OpaquePointer, check: () throws -> Void
    ) throws {
        let writer = try NetWriter(tables[table], name, tombstones, database)
        try bytes.withUnsafeBufferPointer { bytes in
            try values.withUnsafeBufferPointer { values in
                // Neither is empty once there is a row.
                guard let start = bytes.baseAddress, let first = values.baseAddress else { return }
                // What goes makes room for what comes.
                for isThere in [false, true] {
                    for (count, place) in tables[table].order.enumerated() {
                        if count % 64 == 0 { try check() }
                        let row = rows[Int(place)]
                        if row.isThere == isThere { try writer.write(row, first + row.values, start) }
                    }
                }
            }
        }
    }
}

/// Writes net changes of rows to a table. Not `Sendable`: it belongs to its connection's thread.
private final class NetWriter {
    private let table: NetWindow.Table
    private let name: String
    private let database: OpaquePointer
    private let condition: String
    private let insert: Statement
    private let delete: Statement
    private let putTombstone: Statement
    private let takeTombstone: Statement
    /// By the columns that they set, a bit each.
    private var updates: [UInt64: Statement] = [:]

    init(_ table: NetWindow.Table, _ name: String, _ tombstones: String, _ database: OpaquePointer) throws {
        self.table = table
        self.name = name
        self.database = database
        let keys = table.key.map { quoted($0.stored) }
        let names = keys + table.columns.map { quoted($0.stored) } + ["_position"]
        condition = keys.map { "\($0) = ?" }.joined(separator: " AND ")
        let marks = names.map { _ in "?" }.joined(separator: ", ")
        insert = try Statement(database, "INSERT INTO \(name)(\(names.joined(separator: ", "))) VALUES (\(marks))")
        delete = try Statement(database, "DELETE FROM \(name) WHERE \(condition)")
        putTombstone = try Statement(
            database, "INSERT OR REPLACE INTO \(tombstones)(entity, key, position) VALUES (?1, ?2, ?3)")
        takeTombstone = try Statement(database, "DELETE FROM \(tombstones) WHERE entity = ?1 AND key = ?2")
    }

    func write(_ row: NetWindow.Row, _ values: UnsafePointer<storage_value>, _ bytes: UnsafePointer<UInt8>) throws {
        switch (row.wasThere, row.isThere) {
        case (false, true):
            for place in table.key.indices { insert.bind(values[place], bytes: bytes, at: Int32(place + 1)) }
            for (place, column) in table.columns.enumerated() {
                try bind(values[table.key.count + place], bytes, column, to: insert, at: table.key.count + place + 1)
            }
            insert.bind(row.position, at: Int32(table.key.count + table.columns.count + 1))
            try insert.execute()
            if row.wasDeleted { try run(takeTombstone, values, bytes, nil) }
        case (true, true): try update(row, values, bytes)
        case (_, false):
            if row.wasThere {
                for place in table.key.indices { delete.bind(values[place], bytes: bytes, at: Int32(place + 1)) }
                try delete.execute()
                try checkChange(delete, row)
            }
            try run(putTombstone, values, bytes, row.position)
        }
    }

    private func update(
        _ row: NetWindow.Row, _ values: UnsafePointer<storage_value>, _ bytes: UnsafePointer<UInt8>
    ) throws {
        var mask: UInt64 = 0
        for place in table.columns.indices where row.isWhole || values[table.key.count + place].type != 0 {
            mask |= 1 << UInt64(place)
        }
        let update = try statement(setting: mask)
        var parameter = 1
        for (place, column) in table.columns.enumerated() where mask & 1 << UInt64(place) != 0 {
            try bind(values[table.key.count + place], bytes, column, to: update, at: parameter)
            parameter += 1
        }
        update.bind(row.position, at: Int32(parameter))
        for place in table.key.indices { update.bind(values[place], bytes: bytes, at: Int32(parameter + place + 1)) }
        try update.execute()
        try checkChange(update, row)
    }

    /// A column that no event tells stands with its default, as for rows from before it was added.
    @inline(__always)
    private func bind(
        _ value: storage_value, _ bytes: UnsafePointer<UInt8>, _ column: CatalogColumn, to statement: Statement,
        at parameter: Int
    ) throws {
        if value.type == 0 {
            try statement.writer.bind(column.fallback, at: Int32(parameter))
        } else {
            statement.bind(value, bytes: bytes, at: Int32(parameter))
        }
    }

    private func statement(setting mask: UInt64) throws -> Statement {
        if let known = updates[mask] { return known }
        let set = table.columns.indices.filter { mask & 1 << UInt64($0) != 0 }.map { quoted(table.columns[$0].stored) }
        let assignments = (set + ["_position"]).map { "\($0) = ?" }.joined(separator: ", ")
        let statement = try Statement(database, "UPDATE \(name) SET \(assignments) WHERE \(condition)")
        // Updates of wide tables have as many shapes as there are sets of changed columns.
        if updates.count >= 1_024 { updates.removeAll() }
        updates[mask] = statement
        return statement
    }

    private func run(
        _ statement: Statement, _ values: UnsafePointer<storage_value>, _ bytes: UnsafePointer<UInt8>,
        _ position: Int64?
    ) throws {
        statement.bind(Int64(table.entity.id), at: 1)
        statement.bind(blob: KeyCoding.encode(values, count: table.key.count, bytes: bytes), at: 2)
        if let position { statement.bind(position, at: 3) }
        try statement.execute()
    }

    private func checkChange(_ statement: Statement, _ row: NetWindow.Row) throws {
        guard statement.changes == 1 else {
            throw StorageError.corruptLog("event @\(row.position) changes a row that isn't there")
        }
    }
}
