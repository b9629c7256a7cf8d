internal import StorageCore

/// What differs in one row between two states of the store.
///
/// ```swift
/// for try await change in storage.diff(from: .commit(12)) where change.operation == .delete {
///     print(change.table, change.key["id"] ?? .null, change.old ?? [])
/// }
/// ```
public struct RowDifference: Sendable, Hashable {
    /// The operation that turns the row of the first state into that of the second.
    public let operation: StorageEvent.Operation
    /// The entity's name in the second state, or in the first one if it was dropped.
    public let table: String
    /// The row's primary key.
    public let key: [StorageEvent.Field]
    /// The row of the first state for a delete; for an update its columns that differ; nil for an insert.
    public let old: [StorageEvent.Field]?
    /// The row of the second state for an insert; for an update its columns that differ, in the order of ``old``; nil
    /// for a delete.
    ///
    /// A column that only one of the states has counts as holding its default in the other one, and is included only if
    /// the row has another value. If the second state doesn't have the column, ``new`` holds NULL for it.
    public let new: [StorageEvent.Field]?

    package init(
        operation: StorageEvent.Operation, table: String, key: [StorageEvent.Field], old: [StorageEvent.Field]?,
        new: [StorageEvent.Field]?
    ) {
        self.operation = operation
        self.table = table
        self.key = key
        self.old = old
        self.new = new
    }
}

extension RowDifference: CustomStringConvertible {
    /// The difference in one line: `update posts/42 title: "a" → "b"`.
    public var description: String { ChangeText.text(operation, of: ChangeText.row(table, key), old: old, new: new) }
}
