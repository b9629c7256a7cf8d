public import Foundation
public import StorageKit
public import StorageLog

/// A store in a folder of its own, which is removed when the object is no longer used.
///
/// ```swift
/// let store = try TemporaryStore { $0.autoSchema(UserRecord.self) }
/// try await store.storage.save(user)
/// try await store.reopen()
/// ```
public final class TemporaryStore {
    /// The store's file.
    public let url: URL
    public private(set) var storage: Storage
    private let configuration: StorageConfiguration
    private let declare: (inout Schema) throws -> Void

    public init(
        configuration: StorageConfiguration = StorageConfiguration(),
        _ declare: @escaping (inout Schema) throws -> Void = { _ in }
    ) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("storagekit-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        url = folder.appendingPathComponent("store.sqlite")
        self.configuration = configuration
        self.declare = declare
        storage = try StorageKit.start(at: url, configuration: configuration, declare).facade
    }

    deinit { try? FileManager.default.removeItem(at: url.deletingLastPathComponent()) }

    /// Closes the store and opens it again from its file.
    public func reopen() async throws {
        try await storage.close()
        storage = try StorageKit.start(at: url, configuration: configuration, declare).facade
    }
}
