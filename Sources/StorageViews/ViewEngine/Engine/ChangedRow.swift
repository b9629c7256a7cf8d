internal import CSQLite
internal import StorageCore
internal import StorageLog
internal import StorageRouting

/// One changed row as a node sees it: its effect on the node, and its values before and after.
///
/// Not `Sendable`: valid during its step.
package struct ChangedRow {
    let changes: ChangeFold
    /// Its index among the changes.
    let index: Int
    let rows: CurrentRows
    /// How the row's membership in the node changes.
    var effect: SubscriptionEffect
    /// The node's interest that the change was found by.
    var interest = 0

    var change: FoldedChange { changes.changes[index] }
    var position: Int64 { change.position }
    /// Whether the row is as it was, and only rows that it is related to have changed.
    var isUnchanged: Bool { change.changed == .none }

    /// The value of a column; nil if it can't be determined.
    func value(_ column: Int, _ image: RowKeys.Image) -> storage_value? {
        let change = change
        let row = image == .old ? changes.old(change) : changes.new(change)
        if row[column].isUnknown, !changes.complete(change, from: rows) { return nil }
        return row[column].isUnknown ? nil : row[column]
    }

    /// Binds the key's columns, in their order.
    func bindKey(to parameters: RowWriter) {
        let change = change
        let row = change.exists ? changes.new(change) : changes.old(change)
        for (index, column) in changes.layout(of: change).keyIndices.enumerated() {
            row[column].bind(to: parameters, at: Int32(index + 1))
        }
    }
}
