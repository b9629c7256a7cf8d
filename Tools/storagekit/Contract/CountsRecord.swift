import StorageKit

/// The number of events of each operation.
///
/// - `insert`, `update`, `delete`: The number of events.
struct CountsRecord: JSONRecord {
    let counts: CommitSummary.Counts

    func write(to json: inout JSONWriter) {
        json.member("insert", counts.insert)
        json.member("update", counts.update)
        json.member("delete", counts.delete)
    }
}
