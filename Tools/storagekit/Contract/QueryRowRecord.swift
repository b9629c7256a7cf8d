import StorageKit

/// A row of the result of `at` and `sql`: a member for each column, under the names that the query gives them.
///
/// - `point`: With `--each`, the point as it was written.
/// - `change`: With `--diff-with`, `+`, `-`, `<` or `>`.
struct QueryRowRecord: JSONRecord {
    let prefix: [(name: String, value: String)]
    let row: [StorageEvent.Field]

    func write(to json: inout JSONWriter) {
        for (name, value) in prefix { json.member(name, value) }
        for field in row { json.member(field.column, field) }
    }
}
