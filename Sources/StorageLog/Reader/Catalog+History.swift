internal import CSQLite
internal import StorageCore

extension Catalog {
    /// The catalog as it was after the commit that a position belongs to; 0 is the time before everything.
    ///
    /// The end of the commit counts, because a commit's rows precede its changes of the schema. Rows of the catalog are never
    /// deleted, so each one is reverted along its own chain of events: the cost is one look-up for each change of the schema
    /// since then.
    package static func load(_ database: Connection, at position: Int64) throws -> Catalog {
        let reader = LogReader(database)
        let last = try reader.lastPosition(ofCommitAt: position)
        let select = try PreparedStatement(database, "\(selection) ORDER BY entity, id")
        var rows: [CatalogRow] = []
        var tables: [UInt32: String] = [:]
        while try select.step() {
            var row = try CatalogRow(select.row)
            if row.parent == 0, try !row.flag(.isDropped) { tables[row.id] = try row.text(.stored) }
            let newest = select.integer(Int32(columns.count))
            if try undo(&row, from: newest, to: last, reader) { rows.append(row) }
        }
        var catalog = try Catalog(rows: rows)
        // The rows of the table as it is now are copied to that of an earlier time.
        try catalog.noteHiddenRowidNames(tables: tables, database)
        return catalog
    }

    /// - Returns: Whether the row existed then.
    private static func undo(
        _ row: inout CatalogRow, from newest: Int64, to last: Int64, _ reader: LogReader
    ) throws -> Bool {
        var position = newest
        while position > last {
            guard let batch = try reader.batch(containing: position) else {
                throw StorageError.corruptLog("position @\(position) is missing")
            }
            let index = Int(position - batch.header.first)
            let previous = batch.withView { view -> Int64 in
                guard view.shape(of: index).isUpdate else { return 0 }
                row.apply(view, event: index, isBackward: true)
                return view.events[index].previous
            }
            guard previous < position else {
                throw StorageError.corruptLog("event @\(position) points ahead of itself")
            }
            if previous == 0 { return false }
            position = previous
        }
        return true
    }
}

extension LogReader {
    /// The last position of the commit that an event belongs to.
    package func lastPosition(ofCommitAt position: Int64) throws -> Int64 {
        guard position > 0, var batch = try batch(containing: position) else { return position }
        var offset = Int(position - batch.header.first)
        while let part = batch.commits.first(where: { $0.events.contains(offset) }) {
            let last = batch.header.first + Int64(part.events.upperBound) - 1
            guard last == batch.header.last, batch.endsInsideCommit, let next = try self.batch(containing: last + 1)
            else { return last }
            batch = next
            offset = 0
        }
        return position
    }
}
