internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageLog

/// A sum over the rows of some tables, updated as rows change: two databases whose sums differ have different rows; the
/// order of changes doesn't matter.
///
/// The pre-update hook is called for every row, including those changed by `OR REPLACE`, cascades and triggers; it
/// isn't called when a statement that fails reverts rows, so a difference must be confirmed by ``recount()``. Not
/// `Sendable`: it belongs to its connection's thread.
final class TableDigest {
    struct Table: Equatable {
        let name: String
        /// The columns that count, in an order that both databases share.
        let columns: [String]
    }

    private struct Watched {
        let table: Table
        let seed: UInt64
        /// The indices of the columns in the table, and whether each stores only reals.
        let columns: [(index: Int32, isReal: Bool)]
    }

    private let database: Connection
    private var tables: [String: Watched] = [:]
    private(set) var sum: UInt64 = 0

    init(_ database: Connection, _ tables: [Table]) throws {
        self.database = database
        for (number, table) in tables.enumerated() { self.tables[table.name] = try watched(table, number) }
        try recount()
        sqlite3_preupdate_hook(
            database.handle,
            { context, database, operation, schema, table, _, _ in
                guard let context, let database, let schema, let table, strcmp(schema, "main") == 0 else { return }
                // The digest takes the hook away before it goes.
                Unmanaged<TableDigest>.fromOpaque(context).takeUnretainedValue()
                    .note(operation, on: String(cString: table), in: Connection(database))
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    /// Takes the hook away.
    func stop() { sqlite3_preupdate_hook(database.handle, nil, nil) }

    /// Restores an earlier sum after changes were undone.
    func reset(to sum: UInt64) { self.sum = sum }

    /// Computes the sum again from the tables.
    func recount() throws {
        sum = 0
        for watched in tables.values {
            let names = watched.table.columns.map(quoted).joined(separator: ", ")
            let select = try PreparedStatement(database, "SELECT \(names) FROM \(quoted(watched.table.name))")
            while try select.step() {
                var hash = RowHash(seed: watched.seed)
                for column in watched.columns.indices {
                    hash.add(
                        storage_value(borrowing: select.row, column: Int32(column)),
                        isReal: watched.columns[column].isReal)
                }
                sum &+= hash.value
            }
        }
    }

    private func watched(_ table: Table, _ number: Int) throws -> Watched {
        let select = try PreparedStatement(database, "SELECT name, type FROM temp.pragma_table_info(?1) ORDER BY cid")
        select.bind(text: table.name, at: 1)
        var found: [(name: String, isReal: Bool)] = []
        while try select.step() {
            let type = select.string(1).uppercased()
            let isInteger = ["INT", "CHAR", "CLOB", "TEXT", "BLOB"].contains { type.contains($0) }
            let isReal = ["REAL", "FLOA", "DOUB"].contains { type.contains($0) }
            found.append((select.string(0), isReal && !isInteger))
        }
        let columns = try table.columns.map { name in
            guard let index = found.firstIndex(where: { $0.name == name }) else {
                throw StorageError.corruptLog("\"\(table.name)\" has no column \"\(name)\"")
            }
            return (Int32(index), found[index].isReal)
        }
        return Watched(table: table, seed: UInt64(number + 1) &* 0x2545_f491_4f6c_dd1d, columns: columns)
    }

    private func note(_ operation: Int32, on table: String, in database: Connection) {
        guard let watched = tables[table] else { return }
        if operation != SQLITE_INSERT { sum &-= hash(of: watched, in: database, reading: sqlite3_preupdate_old) }
        if operation != SQLITE_DELETE { sum &+= hash(of: watched, in: database, reading: sqlite3_preupdate_new) }
    }

    private func hash(of watched: Watched, in database: Connection, reading value: PreupdateValue) -> UInt64 {
        var hash = RowHash(seed: watched.seed)
        for column in watched.columns {
            var pointer: OpaquePointer?
            let isThere = value(database.handle, column.index, &pointer) == SQLITE_OK
            hash.add(
                isThere ? pointer.map(storage_value.init(borrowing:)) ?? .null : .null, isReal: column.isReal)
        }
        return hash.value
    }
}
