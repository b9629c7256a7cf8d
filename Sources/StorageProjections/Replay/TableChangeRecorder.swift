internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageLog

/// Records the net changes of rows in some tables during its lifetime.
///
/// Not `Sendable`: it belongs to its connection's thread.
final class TableChangeRecorder {
    private struct Watched {
        let table: ScratchProjection.Table
        /// The table's index, used as the entity id in changes.
        let number: UInt32
        /// The indices of the key's columns, used as their ids.
        let key: [Int]
    }

    private let database: Connection
    private var tables: [String: Watched] = [:]
    private var numbered: [Watched] = []
    private var changes: [NetRow] = []
    /// The indices of the changes by table and key.
    private var indices: [RowAddress: Int] = [:]

    init(_ database: Connection, _ tables: [ScratchProjection.Table]) {
        self.database = database
        for table in tables {
            let key = table.key.compactMap { name in table.columns.firstIndex(of: name) }
            let watched = Watched(table: table, number: UInt32(numbered.count), key: key)
            numbered.append(watched)
            self.tables[table.name] = watched
        }
        sqlite3_preupdate_hook(
            database.handle,
            { context, database, operation, schema, table, _, _ in
                guard let context, let database, let schema, let table, strcmp(schema, "main") == 0 else { return }
                // stop() removes the hook before the recorder is released.
                Unmanaged<TableChangeRecorder>.fromOpaque(context).takeUnretainedValue()
                    .note(operation, on: String(cString: table), in: Connection(database))
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Takes the hook away.
    func stop() { sqlite3_preupdate_hook(database.handle, nil, nil) }

    private func note(_ operation: Int32, on table: String, in database: Connection) {
        guard let watched = tables[table] else { return }
        let old = operation == SQLITE_INSERT ? nil : row(in: database, reading: sqlite3_preupdate_old)
        let new = operation == SQLITE_DELETE ? nil : row(in: database, reading: sqlite3_preupdate_new)
        let address = { (row: [NetRow.Cell]) in
            RowAddress(entity: watched.number, values: watched.key.map { row[$0].value })
        }
        // A row that replaces another one, as with OR REPLACE, is a change of it. Without a key, equal rows are
        // interchangeable, and an inserted row is always a new one.
        let known = (old ?? (watched.table.hasKey ? new : nil)).flatMap { indices.removeValue(forKey: address($0)) }
        let index = known ?? changes.count
        let change = NetRow(whole: old, to: new, of: address(new ?? old ?? []))
        if known == nil { changes.append(change) } else { changes[index] = changes[index].followed(by: change) }
        if let row = new ?? (watched.table.hasKey ? old : nil) { indices[address(row)] = index }
    }

    private func row(in database: Connection, reading value: PreupdateValue) -> [NetRow.Cell] {
        (0..<sqlite3_preupdate_count(database.handle)).map { index in
            var pointer: OpaquePointer?
            guard value(database.handle, index, &pointer) == SQLITE_OK, let pointer else {
                return NetRow.Cell(column: UInt32(index), value: .null)
            }
            return NetRow.Cell(
                column: UInt32(index), value: ExactValue(storage_value(borrowing: pointer), bytes: nil))
        }
    }

    /// The rows that differ, in the order of their first change.
    var differences: [RowDifference] {
        changes.compactMap { change in
            guard change.existed || change.exists, !change.existed || !change.exists || change.old != change.new
            else { return nil }
            let watched = numbered[Int(change.row.entity)]
            let isKey = { (index: Int) in watched.key.contains(index) }
            func fields(_ row: [NetRow.Cell], where wanted: (Int) -> Bool) -> [StorageEvent.Field] {
                row.filter { wanted(Int($0.column)) && Int($0.column) < watched.table.columns.count }.map {
                    StorageEvent.Field(column: watched.table.columns[Int($0.column)], value: $0.value.value)
                }
            }
            let isUpdate = change.existed && change.exists
            let isListed = { (index: Int) in
                isUpdate ? change.old[index].value != change.new[index].value : !isKey(index)
            }
            return RowDifference(
                operation: isUpdate ? .update : change.exists ? .insert : .delete, table: watched.table.name,
                key: fields(change.exists ? change.new : change.old, where: isKey),
                old: change.existed ? fields(change.old, where: isListed) : nil,
                new: change.exists ? fields(change.new, where: isListed) : nil)
        }
    }
}
