import Foundation

/// A folder that is gone when it is no longer used, in memory where there is a file system for it: nothing here is about
/// what the machine's own disk does.
final class ScratchFolder: Sendable {
    let path: String

    init() throws {
        let memory = "/dev/shm"
        let parent = access(memory, W_OK) == 0 ? memory : NSTemporaryDirectory()
        path = parent + "/storagekit-lab-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}
