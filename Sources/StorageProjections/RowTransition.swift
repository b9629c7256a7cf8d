package import StorageCore
package import StorageLog

/// A whole row before and after one event, or before the first and after the last of several.
package struct RowTransition: Sendable {
    /// Values by the ids of their columns, without the key.
    package typealias Image = [UInt32: StorageValue]

    /// Position of the last event, and its commit.
    package let position: Int64
    package let commit: CommitInfo
    package let operation: StorageEvent.Operation
    package let entity: CatalogEntity
    package let key: [StorageValue]
    /// The row before; nil where there was none.
    let before: Image?
    /// The row after; nil where there is none any more.
    let after: Image?

    /// What a column held before; nil where there was no row.
    package func old(_ column: CatalogColumn) -> StorageValue? { before.map { value(of: column, in: $0) } }
    /// What it holds since; nil where there is no row any more.
    package func new(_ column: CatalogColumn) -> StorageValue? { after.map { value(of: column, in: $0) } }

    private func value(of column: CatalogColumn, in image: Image) -> StorageValue {
        // What a conversion would have made of older values only the program knows.
        keyValue(of: column) ?? image[column.id] ?? (column.origin == 0 ? column.fallback : .null)
    }

    /// The value of a column of the key; nil for any other column.
    func keyValue(of column: CatalogColumn) -> StorageValue? {
        guard column.keyOrdinal > 0 else { return nil }
        return column.keyOrdinal <= key.count ? key[column.keyOrdinal - 1] : .null
    }
}
