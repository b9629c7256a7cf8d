import StorageKit

/// What a tag or note points to: part of their lines.
///
/// - `position`: The last position of the point.
/// - `commit`, `time`: The commit at it; null where the position is the time before everything.
struct TaggedPointRecord: JSONRecord {
    let position: Int64
    let commit: CommitInfo?

    func write(to json: inout JSONWriter) {
        json.member("position", position)
        json.member("commit", commit?.number)
        json.member("time", time: commit?.time)
    }
}
