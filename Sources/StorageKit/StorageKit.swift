public import Foundation
internal import GRDB
internal import StorageCore
public import StorageLog
internal import StorageProjections

/// Opens stores.
///
/// ```swift
/// let context = try StorageKit.start(at: url) { schema in
///     schema.autoSchema(UserRecord.self)
/// }
/// let storage = context.facade
/// try await storage.save(user)
/// ```
public enum StorageKit {
    /// An open store, as ``StorageKit/start(at:configuration:_:)`` returns it.
    public struct Context: Sendable {
        /// The calls that most programs need.
        public let facade: Storage
    }

    /// Opens the store in a file of the user's data folder (`~/.local/share` on Linux), or makes one there.
    public static func start(
        fileName: String = "app.sqlite", configuration: StorageConfiguration = StorageConfiguration(),
        _ declare: (inout Schema) throws -> Void = { _ in }
    ) throws -> Context {
        let folder = try FileManager.default.url(
            for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        return try start(at: folder.appendingPathComponent(fileName), configuration: configuration, declare)
    }

    /// Opens the store at a URL, or makes one there.
    ///
    /// Only one process may have a store open for writing; others open it with `isReadOnly`.
    ///
    /// - Parameters:
    ///   - url: The store's file. A `.lock` file appears beside it while it is open for writing.
    ///   - declare: Names the entities; their tables are made or extended as one commit.
    /// - Throws: ``StorageError``: `busy` where another process writes, `not-a-store`, `unsupported-format`, or
    ///   `schema-mismatch` where the declaration doesn't fit what is stored.
    public static func start(
        at url: URL, configuration: StorageConfiguration = StorageConfiguration(),
        _ declare: (inout Schema) throws -> Void = { _ in }
    ) throws -> Context {
        try start(StorageEngine.openStore(path: url.path, configuration: configuration), declare)
    }

    /// A store in memory, gone when it is closed or no longer used.
    public static func inMemory(
        configuration: StorageConfiguration = StorageConfiguration(),
        _ declare: (inout Schema) throws -> Void = { _ in }
    ) throws -> Context {
        try start(StorageEngine.openStoreInMemory(configuration: configuration), declare)
    }

    private static func start(_ engine: StorageEngine, _ declare: (inout Schema) throws -> Void) throws -> Context {
        var schema = Schema()
        try declare(&schema)
        _ = try SchemaRun(schema: schema, engine: engine).apply()
        return Context(facade: Storage(engine: engine))
    }
}
