import StorageKit

/// The event that something comes from: part of the lines of `blame`.
///
/// - `position`: Its position.
/// - `commit`, `time`: The number and time of its commit.
/// - ``AuthorRecord``
/// - `ignored`: `true` where the commit was to be ignored and nothing else is left.
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
