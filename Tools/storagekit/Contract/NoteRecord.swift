import StorageKit

/// A line of `note`.
///
/// - ``TaggedPointRecord``
/// - `note`: The text.
/// - `set`: A ``SettingRecord``.
struct NoteRecord: JSONRecord {
    let note: StorageNote
    /// The commit at its position.
    let commit: CommitInfo?

    func write(to json: inout JSONWriter) throws {
        TaggedPointRecord(position: note.position, commit: commit).write(to: &json)
        json.member("note", note.text)
        try json.member("set", SettingRecord(commit: note.commit))
    }
}
