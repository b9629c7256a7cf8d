import StorageKit

/// How many events there are of each operation.
///
/// - `insert`, `update`, `delete`: So many.
struct CountsRecord: JSONRecord {
    let counts: CommitSummary.Counts

    func write(to json: inout JSONWriter) {
        json.member("insert", counts.insert)
        json.member("update", counts.update)
        json.member("delete", counts.delete)
    }
}
