import Foundation

/// A folder that is gone when the test is over.
final class TemporaryFolder {
    let path: String

    init(in parent: URL = FileManager.default.temporaryDirectory) throws {
        let url = parent.appendingPathComponent("storagekit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func file(_ name: String) -> String { path + "/" + name }
}

/// How often the long tests repeat what they do: 1 is the everyday size.
let testScale = Double(ProcessInfo.processInfo.environment["STORAGEKIT_TEST_SCALE"] ?? "") ?? 1
