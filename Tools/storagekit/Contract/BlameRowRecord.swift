import StorageKit

/// A line of `blame` of a table: a row and its last change.
///
/// - `table`, `id`: The row.
/// - `op`: `insert`, `update` or `delete`.
/// - ``OriginRecord``
struct BlameRowRecord: JSONRecord {
    let event: StorageEvent
    let isIgnored: Bool

    func write(to json: inout JSONWriter) {
        json.member("table", event.table)
        json.member("id", event.id)
        json.member("op", event.operation.rawValue)
        OriginRecord(position: event.position, commit: event.commit, isIgnored: isIgnored).write(to: &json)
    }
}
