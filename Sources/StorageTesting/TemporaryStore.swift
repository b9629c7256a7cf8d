public import Foundation
public import StorageKit

/// A store in its own folder, which is removed when the object is released.
///
/// ```swift
/// let store = try TemporaryStore { $0.autoSchema(UserRecord.self) }
/// try await store.storage.save(user)
/// try await store.reopen()
/// ```
public final class TemporaryStore {
    /// The store's file.
    public let url: URL
    /// The open store; another object after ``reopen()``.
    public private(set) var storage: Storage
    private let config: StorageConfig?
    private let declare: (inout Schema) throws -> Void

    /// Creates a store in a new temporary folder.
    ///
    /// - Parameter config: The configuration for opening and reopening the store.
    /// - Throws: As `StorageKit.start` does.
    public init(
        config: StorageConfig? = nil, _ declare: @escaping (inout Schema) throws -> Void = { _ in }
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("storagekit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("store.sqlite")
        self.config = config
        self.declare = declare
        storage = try StorageKit.start(at: url, config: config, declare).facade
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }

    /// Closes the store and opens it again from its file.
    ///
    /// - Throws: As `StorageKit.start` does.
    public func reopen() async throws {
        try await storage.close()
        storage = try StorageKit.start(at: url, config: config, declare).facade
    }
}
