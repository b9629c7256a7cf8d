public import Foundation
internal import StorageCore
internal import StorageLog
public import StorageMaintenance

extension Storage {
    /// Copies the whole store, as it is at this moment, into a file while reads and writes continue.
    ///
    /// ```swift
    /// let backup = try await storage.backup(to: folder.appending(path: "monday.sqlite"))
    /// print(backup.position)
    /// ```
    ///
    /// The copy is a store like any other: open it, or restore it with `storagekit restore`. It gets its name only when it is
    /// complete and durable, so a backup that is interrupted, even by a power failure, leaves nothing under that name. Commits
    /// that begin after the call aren't part of it. The write-ahead log grows during the copy, because it can't be checkpointed
    /// meanwhile.
    ///
    /// - Parameters:
    ///   - url: The file to create, in a folder that exists.
    ///   - replacing: Whether an existing file may be replaced. An open store is never replaced.
    ///   - verifying: Whether the copy is checked against its log before it gets its name; every byte is read once then.
    ///   - progress: Called with the stage (`copy`, `verify`) and its progress, on any thread.
    /// - Returns: What the copy contains.
    /// - Throws: `conflict` if the file exists; `corrupt` if the store itself is damaged; `invalid-argument` for a URL that isn't of a
    ///   file.
    @discardableResult
    public func backup(
        to url: URL, replacing: Bool = false, verifying: Bool = true,
        progress: @escaping @Sendable (_ stage: String, _ done: Int, _ all: Int) -> Void = { _, _, _ in }
    ) async throws -> StoreBackup {
        try await engine.backup(to: url.storePath, replacing: replacing, verifying: verifying, progress: progress)
    }
}
