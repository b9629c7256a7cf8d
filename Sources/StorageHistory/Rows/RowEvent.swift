internal import CSQLite
package import StorageCore
package import StorageLog

/// An event with its values copied, or the combination of several events of one row: columns by their ids, so that it can be
/// shown under any names.
package struct RowEvent: Sendable {
    /// For several events, the position of the last one.
    package let position: Int64
    package let commit: CommitInfo
    package let operation: StorageEvent.Operation
    /// The changed columns, or the whole row before and after, as far as requested.
    package let change: NetRow
    /// The position of the row's previous event; 0 if there is none.
    package let previous: Int64

    package init(_ view: EventView, at index: Int, position: Int64, commit: CommitInfo) {
        self.position = position
        self.commit = commit
        operation = StorageEvent.Operation(view.shape(of: index))
        change = NetRow(view, event: index)
        previous = view.events[index].previous
    }

    /// Combines several events of a row, under the last one's position.
    package init(_ last: RowEvent, operation: StorageEvent.Operation, change: NetRow) {
        position = last.position
        commit = last.commit
        self.operation = operation
        self.change = change
        previous = last.previous
    }

    package var row: RowAddress { change.row }
    package var key: [StorageValue] { change.row.values.map(\.value) }

    /// The event as users see it, under the current names. Columns are in the order of the catalog.
    package func event(_ catalog: Catalog) -> StorageEvent {
        let entity = catalog.entity(id: row.entity)
        let keys = entity?.key ?? []
        func fields(_ cells: [NetRow.Cell]) -> [StorageEvent.Field] {
            cells.map { cell in
                StorageEvent.Field(
                    cell.value.value, of: entity?.columns.first { $0.id == cell.column },
                    orNamed: "column \(cell.column)")
            }
        }
        let key = self.key.enumerated().map { offset, value in
            StorageEvent.Field(
                value, of: offset < keys.count ? keys[offset] : nil, orNamed: "key \(offset + 1)")
        }
        return StorageEvent(
            position: position, commit: commit, operation: operation, table: entity?.name ?? "entity \(row.entity)",
            key: key, old: change.existed ? fields(change.old) : nil, new: change.exists ? fields(change.new) : nil,
            previous: previous)
    }
}
