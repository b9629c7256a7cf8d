import Foundation

/// The file that a command follows, by what the file system knows it by: another file can take its name, and the one that is open
/// gets no more commits then.
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

    /// - Throws: `CommandError` where it isn't there any more.
    func check() throws {
        guard !isThere else { return }
        throw CommandError(
            .unavailable, "\(path) was replaced, moved or deleted while it was followed.",
            next: "Run the command again to follow the new file.")
    }
}
