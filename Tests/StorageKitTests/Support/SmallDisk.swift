import Foundation
import TestSupport

/// A file system in memory of a given size, gone when it is no longer used. Only root can make one, and not in every container.
final class SmallDisk {
    /// Whether this process can make one.
    static let isPossible = (try? SmallDisk(kilobytes: 64)) != nil

    let path: String
    private let folder: TemporaryFolder

    init(kilobytes: Int) throws {
        folder = try TemporaryFolder()
        path = folder.path("disk")
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(kilobytes)k") == 0 else {
            throw CocoaError(.fileWriteNoPermission, userInfo: ["mount": String(cString: strerror(errno))])
        }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }
}
