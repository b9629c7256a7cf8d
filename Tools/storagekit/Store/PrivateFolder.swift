import Foundation
import Synchronization

/// A temporary folder for copies of stored data. No other user may read it, also where a killed command has left it.
struct PrivateFolder {
    let path: String

    private static let registry = Registry(of: .current)

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("storagekit-\(UUID().uuidString)")
        path = folder.path
        // Without the lock, which the signal's handler needs.
        guard try Self.registry.create(path) else { ProcessEnd.wait() }
    }

    func path(of name: String) -> String { path + "/" + name }

    func discard() { Self.registry.remove(path) }

    /// Removes all folders: a signal is about to end the process.
    static func discardAll() { registry.discardAll() }
}

extension PrivateFolder {
    /// The folders of a process. The lock is held while one is created or removed, so that a signal that ends the process misses none.
    final class Registry: Sendable {
        private let end: ProcessEnd
        private let folders = Mutex<Set<String>>([])

        init(of end: ProcessEnd) { self.end = end }

        /// Creates a folder.
        ///
        /// - Returns: False if a signal is ending the process: the folder would never be removed.
        func create(_ path: String) throws -> Bool {
            try folders.withLock { folders in
                guard !end.hasBegun else { return false }
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                folders.insert(path)
                return true
            }
        }

        func remove(_ path: String) {
            folders.withLock { folders in
                Self.remove(path)
                folders.remove(path)
            }
        }

        /// Removes all folders. Called when the end has begun, so that no other is created. They get another name first: another thread
        /// can't create a file in them any more.
        func discardAll() {
            folders.withLock { folders in
                for folder in folders {
                    let name = folder + "-removed"
                    Self.remove(rename(folder, name) == 0 ? name : folder)
                }
                folders = []
            }
        }

        private static func remove(_ path: String) {
            // A temporary folder that stays does no harm.
            try? FileManager.default.removeItem(atPath: path)
        }
    }
}
