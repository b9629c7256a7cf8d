package import Foundation

/// A folder that is removed with the last reference to it.
package final class TemporaryFolder: Sendable {
    package let url: URL

    package init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        url = parent.appendingPathComponent("storagekit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    /// A folder in memory where there is a file system for it, for tests that aren't about the machine's own disk.
    package static func inMemory() throws -> TemporaryFolder {
        let memory = URL(fileURLWithPath: "/dev/shm")
        let isThere = FileManager.default.isWritableFile(atPath: memory.path)
        return try TemporaryFolder(in: isThere ? memory : FileManager.default.temporaryDirectory)
    }

    deinit {
        // Nothing depends on the folder's end; the system clears what is left.
        try? FileManager.default.removeItem(at: url)
    }

    /// The path of a file in it.
    package func path(_ name: String = "store.sqlite") -> String { url.appendingPathComponent(name).path }
}

/// Runs a test in a folder that is removed afterwards.
package func withTemporaryFolder<Result>(
    isolation: isolated (any Actor)? = #isolation, _ body: (URL) async throws -> Result
) async throws -> Result {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    return try await body(folder.url)
}
