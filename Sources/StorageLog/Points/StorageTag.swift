/// A name for a point of the history. Making, moving, annotating and deleting it are events of the log.
///
/// ```swift
/// for tag in try await storage.tags() { print(tag.name, tag.position) }
/// ```
public struct StorageTag: Sendable, Hashable {
    /// The name of the tag.
    public let name: String
    /// The last position that belongs to the point.
    public let position: Int64
    /// The note of the tag.
    public let note: String?
    /// The commit that changed the tag last: who did it, when and why.
    public let commit: CommitInfo
}

extension StorageTag: CustomStringConvertible {
    /// The tag in one line: `tag:release-3 @140 "as it went out"`.
    public var description: String { "tag:\(name) @\(position)" + (note.map { " \"\($0)\"" } ?? "") }
}
