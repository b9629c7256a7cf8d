import StorageKit

/// The point of a tag or note: part of their lines.
///
/// - `position`: The last position of the point.
/// - `commit`, `time`: The commit at it; null if the position is before the first event.
struct TaggedPointRecord: JSONRecord {
    let position: Int64
    let commit: CommitInfo?

    func write(to json: inout JSONWriter) {
        json.member("position", position)
        json.member("commit", commit?.number)
        json.member("time", time: commit?.time)
    }
}
