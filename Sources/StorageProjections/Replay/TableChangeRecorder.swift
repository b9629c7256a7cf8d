internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageLog

/// Writes down what becomes of the rows of some tables while it is there.
///
/// Not `Sendable`: it belongs to its connection's thread.
final class TableChangeRecorder {
    private struct Change {
        let table: String
        var old: [StorageValue]?
        var new: [StorageValue]?
    }

    private struct Watched {
        let table: ScratchProjection.Table
        /// Places of the key's columns.
        let key: [Int]
    }

    private let database: Connection
    private var tables: [String: Watched] = [:]
    private var changes: [Change] = []
    /// Places of the changes by table and key.
    private var indices: [[StorageValue]: Int] = [:]

    init(_ database: Connection, _ tables: [ScratchProjection.Table]) {
        self.database = database
        for table in tables {
            let key = table.key.compactMap { name in table.columns.firstIndex(of: name) }
            self.tables[table.name] = Watched(table: table, key: key)
        }
        sqlite3_preupdate_hook(
            database.handle,
            { context, database, operation, schema, table, _, _ in
                guard let context, let database, let schema, let table, strcmp(schema, "main") == 0 else { return }
                // The hook is taken away by stop(), before this goes.
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
        let address = { (row: [StorageValue]) in [.text(table)] + watched.key.map { row[$0] } }
        // A row that takes the place of another one, as by OR REPLACE, is a change of it. Where there is no key, equal
        // rows are as good as each other, and one that comes is another one.
        let known = (old ?? (watched.table.hasKey ? new : nil)).flatMap { indices.removeValue(forKey: address($0)) }
        let index = known ?? changes.count
        if known == nil { changes.append(Change(table: table, old: old, new: new)) } else { changes[index].new = new }
        if let row = new ?? (watched.table.hasKey ? old : nil) { indices[address(row)] = index }
    }

    private func row(in database: Connection, reading value: PreupdateValue) -> [StorageValue] {
        (0..<sqlite3_preupdate_count(database.handle)).map { index in
            var pointer: OpaquePointer?
            guard value(database.handle, index, &pointer) == SQLITE_OK, let pointer else { return .null }
            return storage_value(borrowing: pointer).value()
        }
    }

    /// The rows that differ, in the order of their first change.
    var differences: [RowDifference] {
        changes.compactMap { change in
            guard let watched = tables[change.table], change.old != change.new else { return nil }
            let table = watched.table
            func fields(_ row: [StorageValue], where wanted: (Int) -> Bool) -> [StorageEvent.Field] {
                zip(table.columns, row).enumerated().filter { wanted($0.offset) }.map {
                    StorageEvent.Field(column: $0.element.0, value: $0.element.1)
                }
            }
            let isKey = { (index: Int) in watched.key.contains(index) }
            let key = fields(change.new ?? change.old ?? [], where: isKey)
            switch (change.old, change.new) {
            case (let old?, let new?):
                let differs = { (index: Int) in old[index] != new[index] }
                return RowDifference(
                    operation: .update, table: table.name, key: key, old: fields(old, where: differs),
                    new: fields(new, where: differs))
            case (let old?, nil):
                return RowDifference(
                    operation: .delete, table: table.name, key: key, old: fields(old) { !isKey($0) }, new: nil)
            case (nil, let new?):
                return RowDifference(
                    operation: .insert, table: table.name, key: key, old: nil, new: fields(new) { !isKey($0) })
            default: return nil
            }
        }
    }
}
