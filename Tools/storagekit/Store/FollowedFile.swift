import Foundation

/// The file that a command follows, identified by device and inode: another file can replace it under its name, and the open one then gets no more
/// commits.
struct FollowedFile: Sendable {
    private let path: String
    private let identity: [UInt64]?

    init(_ path: String) {
        self.path = path
        identity = Self.identity(path)
    }

    private static func identity(_ path: String) -> [UInt64]? {
        var info = stat()
        return stat(path, &info) == 0 ? [UInt64(info.st_dev), UInt64(info.st_ino)] : nil
    }

    var isThere: Bool { Self.identity(path) == identity }

    /// - Throws: `CommandError` if it is gone.
    func check() throws {
        guard !isThere else { return }
        throw CommandError(
            .unavailable, "\(path) was replaced, moved or deleted while it was followed.",
            next: "Run the command again to follow the new file.")
    }
}
