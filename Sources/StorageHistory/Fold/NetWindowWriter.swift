internal import CSQLite
internal import StorageCore
internal import StorageLog

/// Writes net changes of rows to a table. Not `Sendable`: it belongs to its connection's thread, and reads the window's
/// memory.
final class NetWindowWriter {
    private let table: NetWindow.Table
    private let contents: NetWindow.Contents
    private let keyCount: Int
    private let columnCount: Int
    private var width: Int { keyCount + columnCount }
    /// The values of columns that no event names: their defaults, as for rows from before they were added.
    private let fallbacks: [StorageValue]
    private let target: Fold.Target
    private let database: Connection
    private let columns: String
    private let condition: String
    private let delete: PreparedStatement
    /// Deletes a row that another program had deleted; nil if the table has no rows from before.
    private let deleteForgotten: PreparedStatement?
    /// nil if the last positions of deleted rows aren't needed.
    private let putTombstone: PreparedStatement?
    private let takeTombstone: PreparedStatement?
    /// Update statements by the columns that they set, one bit each.
    private var updates: [UInt64: PreparedStatement] = [:]
    private static let updateLimit = 1_024
    /// New rows until there are enough for one statement.
    private var waiting: [NetWindow.Row] = []
    private var insert: PreparedStatement?
    /// A statement costs as much as its row, and within one SQLite finds the position after the previous row at once. More rows
    /// per statement save nothing more.
    private static let insertedRows = 32

    /// - Parameter isFirst: Whether nothing is in the table yet.
    init(
        of table: NetWindow.Table, in contents: NetWindow.Contents, to target: Fold.Target, in database: Connection,
        isFirst: Bool
    ) throws {
        self.table = table
        self.contents = contents
        keyCount = table.key.count
        columnCount = table.columns.count
        fallbacks = table.columns.map(\.fallback)
        self.target = target
        self.database = database
        columns = ((table.key + table.columns).map(target.column) + ["_position"]).joined(separator: ", ")
        condition = target.keyCondition
        delete = try PreparedStatement(database, "DELETE FROM \(target.table) WHERE \(condition)")
        // Another row may have a key that the table treats as equal.
        let exactCondition = RowLookup.condition(of: target.entity, name: target.column)
        deleteForgotten =
            isFirst ? nil : try PreparedStatement(database, "DELETE FROM \(target.table) WHERE \(exactCondition)")
        putTombstone = try target.tombstones.map {
            try PreparedStatement(
                database, "INSERT OR REPLACE INTO \($0)(entity, key, position) VALUES (?1, ?2, ?3)")
        }
        takeTombstone = try target.tombstones.map {
            try PreparedStatement(database, "DELETE FROM \($0) WHERE entity = ?1 AND key = ?2")
        }
    }

    /// Writes a row. New rows may be in the table only after ``finish()``.
    func write(_ row: NetWindow.Row) throws {
        switch (row.wasThere, row.isThere) {
        case (false, true):
            waiting.append(row)
            if waiting.count == Self.insertedRows { try insertWaiting() }
            if row.wasDeleted, let takeTombstone { try run(takeTombstone, of: row) }
        case (true, true): try update(row)
        case (_, false):
            if row.wasThere {
                bindKey(of: row, to: delete, at: 1)
                try delete.execute()
                try checkChange(delete, row)
            } else if !row.wasDeleted, let deleteForgotten {
                // If another program had deleted the row, the table still has it.
                bindKey(of: row, to: deleteForgotten, at: 1)
                try deleteForgotten.execute()
            }
            if let putTombstone { try run(putTombstone, of: row, at: row.position) }
        }
    }

    /// Writes the remaining rows.
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
        // OR FAIL, because a failure undoes everything in any case, so SQLite needn't be able to undo the statement alone; and it
        // prevents conflict clauses of the schema from replacing or skipping rows.
        return try PreparedStatement(database, "INSERT OR FAIL INTO \(target.table)(\(columns)) VALUES \(rows)")
    }

    private func update(_ row: NetWindow.Row) throws {
        var mask: UInt64 = 0
        for column in 0..<columnCount where row.isWhole || contents.values[row.values + keyCount + column].type != 0 {
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
            statement.bind(contents.values[row.values + part], bytes: contents.bytes, at: Int32(parameter + part))
        }
    }

    @inline(__always)
    private func bind(_ column: Int, of row: NetWindow.Row, to statement: PreparedStatement, at parameter: Int) throws {
        let value = contents.values[row.values + keyCount + column]
        if value.type == 0 {
            try statement.writer.bind(fallbacks[column], at: Int32(parameter))
        } else {
            statement.bind(value, bytes: contents.bytes, at: Int32(parameter))
        }
    }

    private func statement(setting mask: UInt64) throws -> PreparedStatement {
        if let known = updates[mask] { return known }
        let set = table.columns.indices.filter { mask & 1 << UInt64($0) != 0 }.map {
            target.column(table.columns[$0])
        }
        let assignments = (set + ["_position"]).map { "\($0) = ?" }.joined(separator: ", ")
        let statement = try PreparedStatement(
            database, "UPDATE OR FAIL \(target.table) SET \(assignments) WHERE \(condition)")
        // Updates of wide tables have as many shapes as there are sets of changed columns.
        if updates.count >= Self.updateLimit { updates.removeAll() }
        updates[mask] = statement
        return statement
    }

    private func run(_ statement: PreparedStatement, of row: NetWindow.Row, at position: Int64? = nil) throws {
        statement.bind(Int64(table.entity.id), at: 1)
        statement.bind(
            blob: KeyCoding.encode(contents.values + row.values, count: keyCount, bytes: contents.bytes), at: 2)
        if let position { statement.bind(position, at: 3) }
        try statement.execute()
    }

    private func checkChange(_ statement: PreparedStatement, _ row: NetWindow.Row) throws {
        guard statement.changes == 1 else {
            throw StorageError.corruptLog("event @\(row.position) changes a row that doesn't exist")
        }
    }
}
