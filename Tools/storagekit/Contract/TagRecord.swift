import StorageKit

/// A line of `tag`.
///
/// - `tag`: Its name.
/// - ``TaggedPointRecord``
/// - `note`: The text about it, or null.
/// - `set`: A ``SettingRecord``.
struct TagRecord: JSONRecord {
    let tag: StorageTag
    /// The commit at its position.
    let commit: CommitInfo?

    func write(to json: inout JSONWriter) throws {
        json.member("tag", tag.name)
        TaggedPointRecord(position: tag.position, commit: commit).write(to: &json)
        json.member("note", tag.note)
        try json.member("set", SettingRecord(commit: tag.commit))
    }
}
