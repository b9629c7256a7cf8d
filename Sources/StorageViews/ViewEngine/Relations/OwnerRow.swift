internal import StorageCore
internal import StorageEntities
internal import StorageLog

/// A row, and what its related rows are found by: a value for each relation.
struct OwnerRow<Item: Sendable>: Sendable {
    let item: Item
    let values: [StorageValue]
}

extension RowForm {
    /// The same rows with the values of columns.
    ///
    /// - Throws: `invalid-name` for a column that isn't there.
    func reading(_ columns: [String]) throws -> RowForm<OwnerRow<Item>> {
        let indices = try columns.map { Int32(try table.index(of: $0)) }
        return RowForm<OwnerRow<Item>>(table: table, isShared: false) { [read] row in
            OwnerRow(item: try read(row), values: indices.map { row.value(at: $0) })
        }
    }
}
