import Foundation
import Synchronization

/// A temporary folder for copies of stored data. No other user may read it, also where a killed command has left it.
struct PrivateFolder {
    let path: String

    /// The folders of this process. The lock is held while one is created or removed, so that a signal that ends the process misses none.
    private static let existing = Mutex<Set<String>>([])

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("storagekit-\(UUID().uuidString)")
        path = folder.path
        try Self.existing.withLock { folders in
            try FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            folders.insert(folder.path)
        }
    }

    func path(of name: String) -> String { path + "/" + name }

    func discard() {
        Self.existing.withLock { folders in
            Self.remove(path)
            folders.remove(path)
        }
    }

    /// Removes all folders: a signal is about to end the process.
    ///
    /// They get another name first: another thread can't create a file in them any more.
    static func discardAll() {
        existing.withLock { folders in
            for folder in folders {
                let name = folder + "-removed"
                remove(rename(folder, name) == 0 ? name : folder)
            }
            folders = []
        }
    }

    private static func remove(_ path: String) {
        // A temporary folder that stays does no harm.
        try? FileManager.default.removeItem(atPath: path)
    }
}
