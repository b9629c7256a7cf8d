import StorageKit

/// A line of `diff --stat` and `diff --summary`: a table that differs.
///
/// - `table`: Its name.
/// - ``CountsRecord``
/// - `cells`: With `--stat`, the number of values that differ.
/// - `schema`: With `--summary`, the changes of the table and its columns, as text.
struct DiffCountRecord: JSONRecord {
    enum Detail {
        case cells(Int)
        case schema([String])
    }

    let table: String
    let rows: CommitSummary.Counts
    let detail: Detail

    func write(to json: inout JSONWriter) {
        json.member("table", table)
        CountsRecord(counts: rows).write(to: &json)
        switch detail {
        case .cells(let count): json.member("cells", count)
        case .schema(let notes): json.member("schema", notes)
        }
    }
}
