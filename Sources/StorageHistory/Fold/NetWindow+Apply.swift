internal import CSQLite
internal import StorageCore
internal import StorageLog

extension NetWindow {
    /// Brings a table from the position before the window to its last one.
    ///
    /// - Parameters:
    ///   - table: Its place in ``tables``.
    ///   - name: The table, as it stands in SQL; it has the entity's columns under their names.
    ///   - tombstones: The table that remembers the last position of deleted rows, of the shape of `storage_tombstone`.
    ///   - check: Called now and then; may throw to stop.
    /// - Throws: `conflict` where a row that takes a place comes before the row that leaves it: with events one by one
    ///   that can't happen.
    package func apply(
        _ table: Int, to name: String, tombstones: String, _ database: Connection, check: () throws -> Void
    ) throws {
        try withMemory { rows, values, bytes in
            let writer = try NetWriter(tables[table], name, tombstones, database, values, bytes)
            // What goes makes room for what comes.
            for rowIndices in [tables[table].gone, tables[table].present] {
                for (count, index) in rowIndices.enumerated() {
                    if count % 64 == 0 { try check() }
                    // In memory rows lie in the order of the log, so each is fetched ahead.
                    if count + 16 < rowIndices.count { storage_prefetch(rows + Int(rowIndices[count + 16])) }
                    if count + 8 < rowIndices.count {
                        storage_prefetch(values + rows[Int(rowIndices[count + 8])].values)
                    }
                    if count + 4 < rowIndices.count {
                        prefetch(rows[Int(rowIndices[count + 4])], writer.width, values, bytes)
                    }
                    try writer.write(rows[Int(index)])
                }
            }
            try writer.finish()
        }
    }

    private func withMemory(
        _ body: (UnsafePointer<Row>, UnsafePointer<storage_value>, UnsafePointer<UInt8>) throws -> Void
    ) throws {
        try rows.withUnsafeBufferPointer { rows in
            try values.withUnsafeBufferPointer { values in
                try heap.bytes.withUnsafeBufferPointer { bytes in
                    // None is empty once there is a row.
                    guard let rows = rows.baseAddress, let values = values.baseAddress, let bytes = bytes.baseAddress
                    else { return }
                    try body(rows, values, bytes)
                }
            }
        }
    }

    private func prefetch(
        _ row: Row, _ width: Int, _ values: UnsafePointer<storage_value>, _ bytes: UnsafePointer<UInt8>
    ) {
        for index in row.values..<row.values + width where ValueHeap.hasBytes(values[index]) {
            storage_prefetch(bytes + Int(values[index].bits))
        }
    }
}

/// Writes net changes of rows to a table. Not `Sendable`: it belongs to its connection's thread, and reads the window's memory.
private final class NetWriter {
    private let table: NetWindow.Table
    private let values: UnsafePointer<storage_value>
    private let bytes: UnsafePointer<UInt8>
    private let keyCount: Int
    private let columnCount: Int
    var width: Int { keyCount + columnCount }
    /// What stands in columns that no event names: their defaults, as for rows from before they were added.
    private let fallbacks: [StorageValue]
    private let name: String
    private let database: Connection
    private let columns: String
    private let condition: String
    private let delete: PreparedStatement
    private let putTombstone: PreparedStatement
    private let takeTombstone: PreparedStatement
    /// By the columns that they set, a bit each.
    private var updates: [UInt64: PreparedStatement] = [:]
    /// New rows that wait until there are enough for one statement.
    private var waiting: [NetWindow.Row] = []
    private var insert: PreparedStatement?
    /// What a statement costs is as much as what its row costs, and within one SQLite finds the place behind the row before at
    /// once. More rows gain nothing more.
    private static let insertedRows = 32

    init(
        _ table: NetWindow.Table, _ name: String, _ tombstones: String, _ database: Connection,
        _ values: UnsafePointer<storage_value>, _ bytes: UnsafePointer<UInt8>
    ) throws {
        self.table = table
        self.values = values
        self.bytes = bytes
        keyCount = table.key.count
        columnCount = table.columns.count
        fallbacks = table.columns.map(\.fallback)
        self.name = name
        self.database = database
        let keys = table.key.map { quoted($0.stored) }
        columns = (keys + table.columns.map { quoted($0.stored) } + ["_position"]).joined(separator: ", ")
        condition = keys.map { "\($0) = ?" }.joined(separator: " AND ")
        delete = try PreparedStatement(database, "DELETE FROM \(name) WHERE \(condition)")
        putTombstone = try PreparedStatement(
            database, "INSERT OR REPLACE INTO \(tombstones)(entity, key, position) VALUES (?1, ?2, ?3)")
        takeTombstone = try PreparedStatement(database, "DELETE FROM \(tombstones) WHERE entity = ?1 AND key = ?2")
    }

    /// New rows are there only when this was called or ``finish()``.
    func write(_ row: NetWindow.Row) throws {
        switch (row.wasThere, row.isThere) {
        case (false, true):
            waiting.append(row)
            if waiting.count == Self.insertedRows { try insertWaiting() }
            if row.wasDeleted { try run(takeTombstone, of: row) }
        case (true, true): try update(row)
        case (_, false):
            if row.wasThere {
                bindKey(of: row, to: delete, at: 1)
                try delete.execute()
                try checkChange(delete, row)
            }
            try run(putTombstone, of: row, at: row.position)
        }
    }

    /// Writes what still waits.
    func finish() throws {
        insert = nil
        if !waiting.isEmpty { try insertWaiting() }
    }

    private func insertWaiting() throws {
        let insert = try insert ?? insertion(of: waiting.count)
        self.insert = insert
        var parameter = 1
        for row in waiting {
            bindKey(of: row, to: insert, at: parameter)
            parameter += keyCount
            for column in 0..<columnCount { try bind(column, of: row, to: insert, at: parameter + column) }
            parameter += columnCount
            insert.bind(row.position, at: Int32(parameter))
            parameter += 1
        }
        try insert.execute()
        waiting.removeAll(keepingCapacity: true)
    }

    private func insertion(of count: Int) throws -> PreparedStatement {
        let row = "(" + repeatElement("?", count: width + 1).joined(separator: ", ") + ")"
        let rows = repeatElement(row, count: count).joined(separator: ", ")
        // OR FAIL, because everything is undone in any case: SQLite needn't be able to undo the statement alone. And no clause
        // of the schema replaces or passes over rows.
        return try PreparedStatement(database, "INSERT OR FAIL INTO \(name)(\(columns)) VALUES \(rows)")
    }

    private func update(_ row: NetWindow.Row) throws {
        var mask: UInt64 = 0
        for column in 0..<columnCount where row.isWhole || values[row.values + keyCount + column].type != 0 {
            mask |= 1 << UInt64(column)
        }
        let update = try statement(setting: mask)
        var parameter = 1
        for column in 0..<columnCount where mask & 1 << UInt64(column) != 0 {
            try bind(column, of: row, to: update, at: parameter)
            parameter += 1
        }
        update.bind(row.position, at: Int32(parameter))
        bindKey(of: row, to: update, at: parameter + 1)
        try update.execute()
        try checkChange(update, row)
    }

    @inline(__always)
    private func bindKey(of row: NetWindow.Row, to statement: PreparedStatement, at parameter: Int) {
        for part in 0..<keyCount {
            statement.bind(values[row.values + part], bytes: bytes, at: Int32(parameter + part))
        }
    }

    @inline(__always)
    private func bind(_ column: Int, of row: NetWindow.Row, to statement: PreparedStatement, at parameter: Int) throws {
        let value = values[row.values + keyCount + column]
        if value.type == 0 {
            try statement.writer.bind(fallbacks[column], at: Int32(parameter))
        } else {
            statement.bind(value, bytes: bytes, at: Int32(parameter))
        }
    }

    private func statement(setting mask: UInt64) throws -> PreparedStatement {
        if let known = updates[mask] { return known }
        let set = table.columns.indices.filter { mask & 1 << UInt64($0) != 0 }.map { quoted(table.columns[$0].stored) }
        let assignments = (set + ["_position"]).map { "\($0) = ?" }.joined(separator: ", ")
        let statement = try PreparedStatement(database, "UPDATE OR FAIL \(name) SET \(assignments) WHERE \(condition)")
        // Updates of wide tables have as many shapes as there are sets of changed columns.
        if updates.count >= 1_024 { updates.removeAll() }
        updates[mask] = statement
        return statement
    }

    private func run(_ statement: PreparedStatement, of row: NetWindow.Row, at position: Int64? = nil) throws {
        statement.bind(Int64(table.entity.id), at: 1)
        statement.bind(blob: KeyCoding.encode(values + row.values, count: keyCount, bytes: bytes), at: 2)
        if let position { statement.bind(position, at: 3) }
        try statement.execute()
    }

    private func checkChange(_ statement: PreparedStatement, _ row: NetWindow.Row) throws {
        guard statement.changes == 1 else {
            throw StorageError.corruptLog("event @\(row.position) changes a row that doesn't exist")
        }
    }
}
