internal import CSQLite
package import GRDB
internal import StorageLog

/// Rows as their tables have them now, found by their keys.
///
/// Isolation: not `Sendable`; used on the thread of its connection, in one transaction or on the writer.
package final class CurrentRows {
    private let database: GRDB.Database
    /// How many rows were read.
    package private(set) var reads = 0

    package init(_ database: GRDB.Database) { self.database = database }

    /// Reads the current version of a changed row.
    ///
    /// - Returns: False if the row can't be read, or if a later event has changed it: a row stores the position of its
    ///   last event.
    func read(
        _ change: FoldedChange, key image: UnsafePointer<storage_value>, layout: RowLayout,
        _ column: (RowReader, Int) -> Void
    ) -> Bool {
        // If the row can't be read, the router wakes every subscription to the entity, so that none misses a change.
        guard let select = try? database.cachedStatement(sql: layout.selectByKey).sqliteStatement else { return false }
        defer {
            sqlite3_reset(select)
            sqlite3_clear_bindings(select)
        }
        reads += 1
        let parameters = RowWriter(statement: select)
        for (index, columnIndex) in layout.keyIndices.enumerated() {
            image[columnIndex].bind(to: parameters, at: Int32(index + 1))
        }
        guard storage_step(select) == SQLITE_ROW,
            sqlite3_column_int64(select, Int32(layout.columns.count)) == change.position
        else { return false }
        let row = RowReader(statement: select)
        for columnIndex in layout.columns.indices { column(row, columnIndex) }
        return true
    }
}
