import StorageKit

/// The event that a value or row comes from: part of the lines of `blame`.
///
/// - `position`: Its position.
/// - `commit`, `time`: The number and time of its commit.
/// - ``AuthorRecord``
/// - `ignored`: `true` if the commit was to be ignored but no other event explains the value.
struct OriginRecord: JSONRecord {
    let position: Int64
    let commit: CommitInfo
    let isIgnored: Bool

    func write(to json: inout JSONWriter) {
        json.member("position", position)
        json.member("commit", commit.number)
        json.member("time", time: commit.time)
        AuthorRecord(metadata: commit.metadata, alwaysHasReason: false).write(to: &json)
        if isIgnored { json.member("ignored", true) }
    }
}
