internal import StorageHistory
internal import StorageLog

/// A cache of whole rows, used while much of the log is read, in a temporary file that SQLite creates only when memory
/// runs short.
final class RowStateCache {
    private let scratch: ScratchTables
    private let select: PreparedStatement
    private let remove: PreparedStatement
    private let insert: PreparedStatement

    init() throws {
        scratch = try ScratchTables()
        let database = scratch.database
        // Column 0 holds the position of the event after which the row is as it is kept here.
        try PreparedStatement(
            database,
            "CREATE TABLE image(entity INTEGER, key BLOB, id INTEGER, value, PRIMARY KEY (entity, key, id)) WITHOUT ROWID"
        ).execute()
        try PreparedStatement(database, "BEGIN").execute()
        select = try PreparedStatement(
            database, "SELECT id, value FROM image WHERE entity = ?1 AND key = ?2 ORDER BY id")
        remove = try PreparedStatement(database, "DELETE FROM image WHERE entity = ?1 AND key = ?2")
        insert = try PreparedStatement(database, "INSERT INTO image VALUES (?1, ?2, ?3, ?4)")
    }

    /// The row after the event at a position, its cells by ascending column; nil if that state isn't cached.
    func row(_ row: RowAddress, at position: Int64) throws -> [NetRow.Cell]? {
        try self.row(row) { $0 == position }
    }

    /// The row before a position, as far as events of it have been read.
    func row(_ row: RowAddress, before position: Int64) throws -> [NetRow.Cell]? {
        try self.row(row) { $0 < position }
    }

    private func row(_ row: RowAddress, where isWanted: (Int64) -> Bool) throws -> [NetRow.Cell]? {
        select.bind(Int64(row.entity), at: 1)
        select.bind(blob: row.key, at: 2)
        defer { select.reset() }
        guard try select.step(), select.integer(0) == 0, isWanted(select.integer(1)) else { return nil }
        var cells: [NetRow.Cell] = []
        while try select.step() {
            cells.append(
                NetRow.Cell(
                    column: UInt32(truncatingIfNeeded: select.integer(0)), value: ExactValue(select, column: 1)))
        }
        return cells
    }

    func keep(_ cells: [NetRow.Cell]?, of row: RowAddress, at position: Int64) throws {
        remove.bind(Int64(row.entity), at: 1)
        remove.bind(blob: row.key, at: 2)
        try remove.execute()
        guard let cells else { return }
        try put(.integer(position), inColumn: 0, of: row)
        for cell in cells { try put(cell.value, inColumn: cell.column, of: row) }
    }

    private func put(_ value: ExactValue, inColumn column: UInt32, of row: RowAddress) throws {
        insert.bind(Int64(row.entity), at: 1)
        insert.bind(blob: row.key, at: 2)
        insert.bind(Int64(column), at: 3)
        value.bind(to: insert, at: 4)
        try insert.execute()
    }
}
