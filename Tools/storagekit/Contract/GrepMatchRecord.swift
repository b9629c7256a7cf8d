import StorageKit

/// A value that matches.
///
/// - `column`: Its column.
/// - `change`: `appeared`, `vanished`, or `kept` if both the old and the new value match.
struct GrepMatchRecord: JSONRecord {
    let column: String
    let change: String

    func write(to json: inout JSONWriter) {
        json.member("column", column)
        json.member("change", change)
    }
}
