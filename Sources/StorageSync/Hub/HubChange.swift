internal import StorageCore
internal import StorageKit
internal import StorageLog

/// What one document became by an event of a hub's log, or by several as one.
struct HubChange: Sendable {
    let table: HubTable
    let id: String
    /// Of its last event.
    let position: Int64
    /// What it was before; nil where there was none.
    let old: HubTable.Row?
    /// What it is then; nil where it was deleted.
    let new: HubTable.Row?
    /// Both as conditions see them.
    let comparedOld: [StorageValue]?
    let comparedNew: [StorageValue]?
    /// Who made the last event, and where it stands in the log of the store that did; nil for a write of the hub's own program.
    let source: HubSource?
    /// Its last event by somebody else than that; nil where there is none.
    let other: Other?
    /// About how much memory it takes.
    let byteCount: Int

    struct Other: Sendable {
        let position: Int64
        /// Then the last events have made another document of the id. Whoever made them has known of the deletion, or was never to know of
        /// it.
        let isDeletion: Bool
    }

    init(
        table: HubTable, id: String, position: Int64, old: HubTable.Row?, new: HubTable.Row?, source: HubSource?,
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

    /// This change and a later one of the same document as one.
    func followed(by later: HubChange) -> HubChange {
        HubChange(
            table: later.table, id: id, position: later.position,
            // Columns may have been added in between: the old row is that of the later table.
            old: old.map { row in table.columns == later.table.columns ? row : row.moved(from: table, to: later.table)
            },
            new: later.new, source: later.source,
            other: later.other
                ?? (source?.producer == later.source?.producer
                    ? other : Other(position: position, isDeletion: new == nil)))
    }
}

extension HubTable.Row {
    fileprivate func moved(from old: HubTable, to new: HubTable) -> HubTable.Row {
        HubTable.Row(
            key: key,
            values: new.columns.map { column in
                old.columns.firstIndex { $0.id == column.id }.map { values[$0] } ?? column.fallback
            })
    }
}
