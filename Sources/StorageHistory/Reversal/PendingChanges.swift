internal import CSQLite
internal import StorageCore
internal import StorageLog

/// The current commit's changes of rows, each row counted once however often it was changed.
struct PendingChanges {
    private(set) var inserted = 0
    private(set) var updated = 0
    private(set) var deleted = 0
    /// The first changes, in the order of their rows' first events.
    private(set) var first: [RowDifference] = []

    /// - Parameters:
    ///   - start: The index of the first captured event: earlier ones belong to other commits of the same transaction.
    ///   - limit: The maximum number of listed changes.
    init(_ writer: LogWriter, from start: Int, limit: Int) {
        let view = writer.captured
        let events = start..<view.count
        var repeated = DuplicateRows()
        for index in events { repeated.add(RowAddress(view, at: index)) }
        repeated.finish()
        var rowIndices: [RowAddress: Int] = [:]
        var rows: [NetRow] = []
        for index in events {
            let row = RowAddress(view, at: index)
            let isRepeated = repeated.contains(row)
            guard isRepeated || rows.count < limit else {
                switch StorageEvent.Operation(view.shape(of: index)) {
                case .insert: inserted += 1
                case .update: updated += 1
                case .delete: deleted += 1
                }
                continue
            }
            if let rowIndex = rowIndices[row] {
                rows[rowIndex] = rows[rowIndex].followed(by: NetRow(view, event: index))
            } else {
                if isRepeated { rowIndices[row] = rows.count }
                rows.append(NetRow(view, event: index))
            }
        }
        var tables: [UInt32: DifferenceTable] = [:]
        for net in rows {
            let id = net.row.entity
            let entity = writer.catalog.entity(id: id)
            let known = tables[id] ?? DifferenceTable(from: entity, to: entity, matchesNames: false)
            tables[id] = known
            guard let table = known, let change = NetChange(net, table: table, isBackward: false) else { continue }
            switch change.operation {
            case .insert: inserted += 1
            case .update: updated += 1
            case .delete: deleted += 1
            }
            if first.count < limit { first.append(RowDifference(change)) }
        }
    }
}
