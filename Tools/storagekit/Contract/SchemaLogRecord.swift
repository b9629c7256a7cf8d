import StorageKit

/// A line of `schema log`: a change of a table or column, and the commit that made it.
///
/// - `commit`, `time`: The number and time of the commit.
/// - ``AuthorRecord``
/// - ``SchemaChangeRecord``
struct SchemaLogRecord: JSONRecord {
    let commit: CommitInfo
    let change: SchemaChange

    func write(to json: inout JSONWriter) throws {
        json.member("commit", commit.number)
        json.member("time", time: commit.time)
        AuthorRecord(metadata: commit.metadata, alwaysHasReason: true).write(to: &json)
        try SchemaChangeRecord(change: change).write(to: &json)
    }
}
