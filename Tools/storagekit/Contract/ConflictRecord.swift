import StorageKit

/// A conflict of a revert.
///
/// - `table`, `id`: The row.
/// - `column`: The column; null if the whole row conflicts.
/// - `reason`: The reason, as text.
/// - `expected`, `found`: Of a column, the value that was set and the current one.
struct ConflictRecord: JSONRecord {
    let conflict: RevertConflict
    let catalog: Catalog

    func write(to json: inout JSONWriter) {
        let entity = catalog.entity(named: conflict.table)
        let column = conflict.column.flatMap { entity?.column(named: $0) }
        json.member("table", conflict.table)
        json.member("id", KeyText.text(of: conflict.key, in: entity))
        json.member("column", conflict.column)
        json.member("reason", conflict.reason)
        json.member("expected", conflict.expected, of: column)
        json.member("found", conflict.found, of: column)
    }
}
