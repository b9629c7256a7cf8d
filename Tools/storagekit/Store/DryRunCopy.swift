import Foundation
import StorageKit

/// A copy of a store in a temporary folder, for a command's dry run.
struct DryRunCopy {
    let path: String
    private let folder: PrivateFolder

    /// Copies the store; if there is none yet, the folder stays empty.
    init(of store: StoreOption) async throws {
        folder = try PrivateFolder()
        path = folder.path(of: "store.sqlite")
        guard try FileManager.default.fileExists(atPath: store.path()) else { return }
        do {
            let storage = try store.openForReading()
            _ = try await storage.backup(to: URL(fileURLWithPath: path), verifying: false)
            try await storage.close()
        } catch {
            discard()
            throw error
        }
    }

    func discard() { folder.discard() }
}
