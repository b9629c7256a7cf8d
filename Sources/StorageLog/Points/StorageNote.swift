/// A note on a point of the history, added after the fact. Writing, changing and deleting it are events of the log.
///
/// ```swift
/// for note in try await storage.notes() { print(note.position, note.text) }
/// ```
public struct StorageNote: Sendable, Hashable {
    /// The last position that belongs to the point: of a commit, its last event.
    public let position: Int64
    /// The text of the note.
    public let text: String
    /// The commit that changed the note last: who did it, when and why.
    public let commit: CommitInfo
}

extension StorageNote: CustomStringConvertible {
    /// The note in one line: `@140 "Anna asked for it"`.
    public var description: String { "@\(position) \"\(text)\"" }
}
