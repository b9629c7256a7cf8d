public import Foundation
public import StorageCore

/// A store for use in views. With `StorageSync` it also shows query sources and keeps them up to date.
///
/// ```swift
/// let container = try PersistenceContainer.file(at: url) { $0.autoSchema(TaskRecord.self) }
/// try await container.storage.save(task)
/// ```
///
/// In a file that imports GRDB as well, write `StorageKit.PersistenceContainer`.
///
/// Isolation: `Sendable`, a reference to the open store.
public final class PersistenceContainer: Sendable {
    /// The container's store.
    public let storage: Storage
    /// The default container; see ``withDatabaseContainer(_:_:)-(_,()->Result)``.
    @TaskLocal public static var current: PersistenceContainer?

    /// Creates a container for an open store.
    public init(_ storage: Storage) { self.storage = storage }

    /// Opens the store in a file, or creates it, and returns its container.
    ///
    /// - Parameters:
    ///   - config: The store's configuration.
    ///   - schema: Declares the store's schema, as for `StorageKit.start`.
    /// - Throws: ``StorageError`` as ``start(at:cacheTTL:diskQuota:config:_:)`` does.
    public static func file(
        at url: URL, config: StorageConfig? = nil, schema: (inout Schema) throws -> Void = { _ in }
    ) throws -> PersistenceContainer {
        PersistenceContainer(try start(at: url, config: config, schema).facade)
    }

    /// Opens a store in memory, for tests and previews, and returns its container.
    ///
    /// - Throws: ``StorageError`` as ``StorageKit/inMemory(cacheTTL:diskQuota:config:_:)`` does.
    public static func inMemory(
        config: StorageConfig? = nil, schema: (inout Schema) throws -> Void = { _ in }
    ) throws -> PersistenceContainer {
        PersistenceContainer(try StorageKit.inMemory(config: config, schema).facade)
    }
}

// MARK: Scopes

/// Runs `operation` with a container that the queries inside it use.
public func withDatabaseContainer<Result>(
    _ container: PersistenceContainer, _ operation: () throws -> Result
) rethrows -> Result {
    try PersistenceContainer.$current.withValue(container, operation: operation)
}

/// Runs `operation` with a container that the queries inside it use.
///
/// ```swift
/// let users = try await withDatabaseContainer(PersistenceContainer(storage)) {
///     try await PersistenceContainer.current?.storage.all(User.self)
/// }
/// ```
public func withDatabaseContainer<Result>(
    isolation: isolated (any Actor)? = #isolation, _ container: PersistenceContainer,
    _ operation: () async throws -> Result
) async rethrows -> Result {
    try await PersistenceContainer.$current.withValue(container, operation: operation)
}
