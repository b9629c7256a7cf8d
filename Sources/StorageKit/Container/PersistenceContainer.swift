public import Foundation
public import StorageCore

/// A store for views. With `StorageSync` it also shows query sources, and keeps them fresh.
///
/// ```swift
/// let container = try PersistenceContainer.file(at: url) { $0.autoSchema(TaskRecord.self) }
/// try await container.storage.save(task)
/// ```
///
/// Isolation: `Sendable`, a reference to the open store.
public final class PersistenceContainer: Sendable {
    /// The store with the rows.
    public let storage: Storage
    /// The default container; see ``withDatabaseContainer(_:_:)-(_,()->Result)``.
    @TaskLocal public static var current: PersistenceContainer?

    /// Creates a container of an open store.
    public init(_ storage: Storage) { self.storage = storage }

    /// Opens a store's file, or creates it.
    ///
    /// - Parameters:
    ///   - config: The store's configuration.
    ///   - schema: Declares its tables, as for `StorageKit.start`.
    /// - Throws: ``StorageError`` as ``start(at:cacheTTL:diskQuota:config:_:)`` does.
    public static func file(
        at url: URL, config: StorageConfig? = nil, schema: (inout Schema) throws -> Void = { _ in }
    ) throws -> PersistenceContainer {
        PersistenceContainer(try start(at: url, config: config, schema).facade)
    }

    /// Opens a store in memory, for tests and previews.
    ///
    /// - Throws: ``StorageError`` as ``StorageKit/inMemory(cacheTTL:diskQuota:config:_:)`` does.
    public static func inMemory(
        config: StorageConfig? = nil, schema: (inout Schema) throws -> Void = { _ in }
    ) throws -> PersistenceContainer {
        PersistenceContainer(try StorageKit.inMemory(config: config, schema).facade)
    }
}

// MARK: Scopes

/// Runs `operation` with a container for the queries inside it.
public func withDatabaseContainer<Result>(
    _ container: PersistenceContainer, _ operation: () throws -> Result
) rethrows -> Result {
    try PersistenceContainer.$current.withValue(container, operation: operation)
}

/// Runs `operation` with a container for the queries inside it.
public func withDatabaseContainer<Result>(
    isolation: isolated (any Actor)? = #isolation, _ container: PersistenceContainer,
    _ operation: () async throws -> Result
) async rethrows -> Result {
    try await PersistenceContainer.$current.withValue(container, operation: operation)
}
