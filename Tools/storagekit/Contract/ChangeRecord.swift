import StorageKit

/// What changed in a row.
///
/// - `op`: `insert`, `update` or `delete`.
/// - `table`: The table's name as it is now.
/// - `id`: The row's key as it is typed; the parts of a composite key are separated by commas.
/// - `old`: The row before a delete, without NULL columns; of an update, the changed columns; null for an insert.
/// - `new`: The row after an insert, without NULL columns; of an update, the changed columns; null for a delete.
struct ChangeRecord<Change: PrintableChange>: JSONRecord {
    let change: Change
    /// The only columns to report; all if nil.
    var columns: [String]?

    func write(to json: inout JSONWriter) {
        json.member("op", change.operation.rawValue)
        json.member("table", change.table)
        json.member("id", change.id)
        writeSides(to: &json)
    }

    func writeSides(to json: inout JSONWriter) {
        json.key("old")
        write(change.old, to: &json)
        json.key("new")
        write(change.new, to: &json)
    }

    private func isWanted(_ column: String) -> Bool {
        columns.map { $0.contains { $0.utf8.elementsEqual(column.utf8) } } ?? true
    }

    private func write(_ fields: [StorageEvent.Field]?, to json: inout JSONWriter) {
        guard let fields else { return json.null() }
        json.beginObject()
        for field in fields where isWanted(field.column) {
            // NULL columns are omitted from whole rows only; in an update, NULL is one of the two values.
            if change.operation != .update, field.value == .null { continue }
            json.member(field.column, field)
        }
        json.endObject()
    }
}
