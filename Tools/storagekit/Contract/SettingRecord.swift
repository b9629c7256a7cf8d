import StorageKit

/// The last change of a tag or note.
///
/// - `commit`, `time`: The number and time of its commit.
/// - ``AuthorRecord``
struct SettingRecord: JSONRecord {
    let commit: CommitInfo

    func write(to json: inout JSONWriter) {
        json.member("commit", commit.number)
        json.member("time", time: commit.time)
        AuthorRecord(metadata: commit.metadata, alwaysHasReason: true).write(to: &json)
    }
}
