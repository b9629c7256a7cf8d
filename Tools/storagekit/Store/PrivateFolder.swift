import Foundation

/// A temporary folder for copies of stored data. No other user may read it, also where a killed command has left it.
struct PrivateFolder {
    let path: String

    init() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("storagekit-\(UUID().uuidString)")
        path = folder.path
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    func path(of name: String) -> String { path + "/" + name }

    func discard() {
        // A temporary folder that stays does no harm.
        try? FileManager.default.removeItem(atPath: path)
    }
}
