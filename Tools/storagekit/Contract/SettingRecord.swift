import StorageKit

/// Who changed a tag or note last.
///
/// - `commit`, `time`: The number and time of the commit that did.
/// - ``AuthorRecord``
struct SettingRecord: JSONRecord {
    let commit: CommitInfo

    func write(to json: inout JSONWriter) {
        json.member("commit", commit.number)
        json.member("time", time: commit.time)
        AuthorRecord(metadata: commit.metadata, alwaysHasReason: true).write(to: &json)
    }
}
