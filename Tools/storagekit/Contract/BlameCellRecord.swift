import StorageKit

/// A line of `blame` of a row: a value and its origin.
///
/// - `table`, `id`, `column`: The cell.
/// - `value`: Its value.
/// - ``OriginRecord``
struct BlameCellRecord: JSONRecord {
    let row: RowTarget
    let cell: CellOrigin

    func write(to json: inout JSONWriter) {
        json.member("table", row.entity.name)
        json.member("id", KeyText.text(of: row.key, in: row.entity))
        json.member("column", cell.field.column)
        json.member("value", cell.field)
        OriginRecord(position: cell.position, commit: cell.commit, isIgnored: cell.isIgnored).write(to: &json)
    }
}
