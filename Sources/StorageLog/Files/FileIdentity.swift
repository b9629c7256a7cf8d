internal import Foundation

/// Which file a path leads to, to notice later that it leads to another one, or to none.
struct FileIdentity {
    let path: String
    /// The path as the system takes it, so that a look copies nothing.
    private let name: ContiguousArray<CChar>
    private let device: dev_t
    private let number: ino_t

    /// - Returns: nil if there is no such file.
    init?(_ path: String) {
        var found = stat()
        guard stat(path, &found) == 0 else { return nil }
        (device, number) = (found.st_dev, found.st_ino)
        self.path = path
        name = path.utf8CString
    }

    /// Whether the file was moved, deleted or replaced. Costs a `stat`.
    var hasMoved: Bool {
        var found = stat()
        let code = name.withUnsafeBufferPointer { name in name.baseAddress.map { stat($0, &found) } ?? -1 }
        return code != 0 || found.st_ino != number || found.st_dev != device
    }
}
