import Foundation
import Synchronization

/// A temporary folder for copies of stored data. No other user may read it, also where a killed command has left it.
struct PrivateFolder {
    let path: String

    private static let registry = Registry()

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("storagekit-\(UUID().uuidString)")
        path = folder.path
        // Without the lock, which the signal's handler needs.
        guard try Self.registry.create(path) else { ShellCommand.waitForEnd() }
    }

    func path(of name: String) -> String { path + "/" + name }

    func discard() { Self.registry.remove(path) }

    /// Removes all folders, and lets no other begin: a signal is about to end the process.
    static func discardAll() { registry.end() }
}

extension PrivateFolder {
    /// The folders of a process. The lock is held while one is created or removed, so that a signal that ends the process misses none.
    final class Registry: Sendable {
        private struct State {
            var folders: Set<String> = []
            /// Whether a signal is ending the process.
            var isEnding = false
        }

        private let state = Mutex(State())

        /// Creates a folder.
        ///
        /// - Returns: False if a signal is ending the process: the folder would never be removed.
        func create(_ path: String) throws -> Bool {
            try state.withLock { state in
                guard !state.isEnding else { return false }
                try FileManager.default.createDirectory(
                    atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
                state.folders.insert(path)
                return true
            }
        }

        func remove(_ path: String) {
            state.withLock { state in
                Self.remove(path)
                state.folders.remove(path)
            }
        }

        /// Removes all folders. They get another name first: another thread can't create a file in them any more.
        func end() {
            state.withLock { state in
                state.isEnding = true
                for folder in state.folders {
                    let name = folder + "-removed"
                    Self.remove(rename(folder, name) == 0 ? name : folder)
                }
                state.folders = []
            }
        }

        private static func remove(_ path: String) {
            // A temporary folder that stays does no harm.
            try? FileManager.default.removeItem(atPath: path)
        }
    }
}
