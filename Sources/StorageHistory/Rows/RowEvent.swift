internal import CSQLite
package import StorageCore
package import StorageLog

/// An event with its values read out, columns by their ids, so that it can be looked at under any names.
package struct RowEvent: Sendable {
    package let position: Int64
    package let commit: CommitInfo
    package let operation: StorageEvent.Operation
    package let row: RowAddress
    package let key: [StorageValue]
    package let columns: [UInt32]
    /// One value per column: of an update those before it, of a delete the row; empty for an insert.
    package let old: [StorageValue]
    /// One value per column, after; empty for a delete.
    package let new: [StorageValue]
    package let previous: Int64

    package init(_ view: EventView, at index: Int, position: Int64, commit: CommitInfo) {
        let shape = view.shape(of: index)
        let key = view.key(of: index)
        let values = view.columns(of: index)
        let count = Int(shape.column_count)
        self.position = position
        self.commit = commit
        columns = (0..<count).map { shape.columns[$0] }
        row = RowAddress(view, at: index)
        self.key = (0..<Int(shape.key_count)).map { view.value(key[$0]) }
        previous = view.events[index].previous
        let first = (0..<count).map { view.value(values[$0]) }
        operation = StorageEvent.Operation(shape)
        old = shape.isInsert ? [] : first
        new = shape.isDelete ? [] : shape.isInsert ? first : (0..<count).map { view.value(values[count + $0]) }
    }

    /// What the columns held before, by their ids.
    var before: [UInt32: StorageValue] { Dictionary(zip(columns, old), uniquingKeysWith: { first, _ in first }) }
    /// What they hold since.
    var after: [UInt32: StorageValue] { Dictionary(zip(columns, new), uniquingKeysWith: { first, _ in first }) }

    /// The event as users see it, under the current names.
    package func event(_ catalog: Catalog) -> StorageEvent {
        let entity = catalog.entity(id: row.entity)
        let keys = entity?.key ?? []
        func fields(_ values: [StorageValue]) -> [StorageEvent.Field] {
            zip(columns, values).map { id, value in
                let column = entity?.columns.first { $0.id == id }
                return StorageEvent.Field(
                    column: column?.name ?? "column \(id)", value: value, type: column?.type ?? "",
                    coding: column?.coding ?? "")
            }
        }
        let key = self.key.enumerated().map { offset, value in
            let column = offset < keys.count ? keys[offset] : nil
            return StorageEvent.Field(
                column: column?.name ?? "key \(offset + 1)", value: value, type: column?.type ?? "",
                coding: column?.coding ?? "")
        }
        return StorageEvent(
            position: position, commit: commit, operation: operation, table: entity?.name ?? "entity \(row.entity)",
            key: key, old: operation == .insert ? nil : fields(old), new: operation == .delete ? nil : fields(new),
            previous: previous)
    }
}
