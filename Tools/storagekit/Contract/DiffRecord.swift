import StorageKit

/// A line of `diff`: the net change of a row between two points.
///
/// - `table`: The table's name at the second point, or at the first if it was dropped.
/// - `id`: The row's key as it is typed.
/// - `op`: The operation that turns the row at the first point into that at the second.
/// - `old`, `new`: As in a ``ChangeRecord``.
struct DiffRecord: JSONRecord {
    let row: RowDifference

    func write(to json: inout JSONWriter) {
        json.member("table", row.table)
        json.member("id", row.id)
        json.member("op", row.operation.rawValue)
        ChangeRecord(change: row).writeSides(to: &json)
    }
}
