internal import StorageCore
internal import StorageKit
internal import StorageLog

/// The effect of one or several events of a hub's log on a document.
struct HubChange: Sendable {
    let table: HubEntityTable
    let id: String
    /// The position of the last event.
    let position: Int64
    /// The state before; nil if there was none.
    let old: HubEntityTable.Row?
    /// The state afterwards; nil if it was deleted.
    let new: HubEntityTable.Row?
    /// Both states as conditions see them.
    let comparedOld: [StorageValue]?
    let comparedNew: [StorageValue]?
    /// The origin of the last event in the log of the store that made it; nil for a write by the hub's own program.
    let source: HubWriteSource?
    /// The last event by another source; nil if there is none.
    let other: Other?
    /// The approximate memory use.
    let byteCount: Int

    struct Other: Sendable {
        let position: Int64
        /// The last events have then created another document with the id. Their author knew of the deletion, or wasn't allowed to see it.
        let isDeletion: Bool
    }

    init(
        table: HubEntityTable, id: String, position: Int64, old: HubEntityTable.Row?, new: HubEntityTable.Row?,
        source: HubWriteSource?,
        other: Other? = nil
    ) {
        self.table = table
        self.id = id
        self.position = position
        self.old = old
        self.new = new
        self.source = source
        self.other = other
        comparedOld = old.map(table.compared)
        comparedNew = new.map(table.compared)
        byteCount = [old, new].reduce(256) { total, row in
            (row?.values ?? []).reduce(total) { $0 + $1.byteCount }
        }
    }

    /// Combines this change with a later one of the same document.
    func followed(by later: HubChange) -> HubChange {
        HubChange(
            table: later.table, id: id, position: later.position,
            // Columns may have been added in between: the old row is converted to the later table.
            old: old.map { row in table.columns == later.table.columns ? row : row.moved(from: table, to: later.table)
            },
            new: later.new, source: later.source,
            other: later.other
                ?? (source?.producer == later.source?.producer
                    ? other : Other(position: position, isDeletion: new == nil)))
    }
}

extension HubEntityTable.Row {
    fileprivate func moved(from old: HubEntityTable, to new: HubEntityTable) -> HubEntityTable.Row {
        HubEntityTable.Row(
            key: key,
            values: new.columns.map { column in
                old.columns.firstIndex { $0.id == column.id }.map { values[$0] } ?? column.fallback
            })
    }
}
