public import Foundation
internal import GRDB
public import StorageCore
internal import StorageLog
internal import StorageProjections

/// Opens a store in a file of the user's data folder (`~/.local/share` on Linux), or creates it.
///
/// ```swift
/// let context = try StorageKit.start(fileName: "notes.sqlite") { schema in
///     schema.addKVCache()
///     schema.autoSchema(NoteRecord.self)
/// }
/// ```
///
/// - Parameters: As those of ``start(at:cacheTTL:diskQuota:config:_:)``.
/// - Throws: ``StorageError`` as ``start(at:cacheTTL:diskQuota:config:_:)`` does; an error of Foundation if the folder doesn't exist and can't be
///   created.
public func start(
    fileName: String = "app.sqlite", cacheTTL: TTL? = nil, diskQuota: Quota? = nil, config: StorageConfig? = nil,
    _ declare: (inout Schema) throws -> Void = { $0.addKVCache() }
) throws -> Context {
    let folder = try FileManager.default.url(
        for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
    return try start(
        at: folder.appendingPathComponent(fileName), cacheTTL: cacheTTL, diskQuota: diskQuota, config: config, declare)
}

/// Opens the store in a file, or creates it.
///
/// ```swift
/// let context = try StorageKit.start(at: url) { schema in
///     schema.autoSchema(UserRecord.self)
/// }
/// let storage = context.facade
/// try await storage.save(user)
/// ```
///
/// Only one process may have a store open for writing; others open it with ``StorageConfig/isReadOnly``:
///
/// ```swift
/// let reader = try StorageKit.start(at: url, config: .init(isReadOnly: true)).facade
/// ```
///
/// The call returns when the store is open and every step of its schema is done. It runs on the calling thread: if a long
/// migration may be due, make the call from a separate task.
///
/// - Parameters:
///   - url: The store's file. When it is opened for writing, files that end in `.lock` and `.bell` appear beside it: they show
///     other processes which one writes, wake them after commits, and record the last acknowledged commit.
///   - cacheTTL: The lifetime of cached values; 5 minutes if neither this nor `config` sets it.
///   - diskQuota: The maximum size of a ``DiskCache``; 30 megabytes if neither this nor `config` sets it.
///   - config: The store's configuration, including the settings of caches and encoders.
///   - declare: Declares entities, indexes and migrations; those that are missing are created, in one transaction.
/// - Throws: ``StorageError``: `busy` if another process writes, `not-a-store`, `unsupported-format`, `schema-mismatch` if the
///   declaration doesn't fit the stored data, `newer-schema` if a newer version of the program has changed the store,
///   `migration-failed` if a step of the schema fails, `not-found` if a store that is opened for reading doesn't exist,
///   `invalid-argument` for a URL that isn't of a file; also what `declare` throws.
public func start(
    at url: URL, cacheTTL: TTL? = nil, diskQuota: Quota? = nil, config: StorageConfig? = nil,
    _ declare: (inout Schema) throws -> Void = { _ in }
) throws -> Context {
    var schema = Schema()
    try declare(&schema)
    let config = StorageConfig(config, cacheTTL: cacheTTL, diskQuota: diskQuota)
    do {
        return try Context(try StorageEngine.openStore(path: url.storePath, configuration: config), schema)
    } catch let error as StorageError
        where schema.options.eraseDatabaseOnSchemaChange && !config.isReadOnly
        && [.schemaMismatch, .newerSchema, .migrationFailed].contains(error.code)
    {
        schema.options.logger?("erasing \(url.path), which doesn't fit the schema: \(error.message)")
        try StorageEngine.erase(path: url.storePath)
        return try Context(try StorageEngine.openStore(path: url.storePath, configuration: config), schema)
    }
}

/// Opens a store in memory. It is gone when it is closed or no longer used.
///
/// ```swift
/// let storage = try StorageKit.inMemory { $0.autoSchema(UserRecord.self) }.facade
/// ```
///
/// - Parameters: As those of ``start(at:cacheTTL:diskQuota:config:_:)``.
/// - Throws: ``StorageError``: `schema-mismatch` or `migration-failed` for a declaration that can't be applied; also what
///   `declare` throws.
public func inMemory(
    cacheTTL: TTL? = nil, diskQuota: Quota? = nil, config: StorageConfig? = nil,
    _ declare: (inout Schema) throws -> Void = { _ in }
) throws -> Context {
    var schema = Schema()
    try declare(&schema)
    let config = StorageConfig(config, cacheTTL: cacheTTL, diskQuota: diskQuota)
    return try Context(try StorageEngine.openStoreInMemory(configuration: config), schema)
}

extension StorageConfig {
    /// Merges a call's parameters into the configuration; the parameters take precedence.
    fileprivate init(_ config: StorageConfig?, cacheTTL: TTL?, diskQuota: Quota?) {
        self = config ?? StorageConfig(diskQuotaBytes: Quota.megabytes(30).bytes)
        if let cacheTTL { defaultTTL = cacheTTL }
        if let diskQuota { diskQuotaBytes = diskQuota.bytes }
    }
}

extension Context {
    /// Applies the schema to a store that has just been opened; closes the store if the schema doesn't fit.
    fileprivate init(_ engine: StorageEngine, _ schema: Schema) throws {
        do {
            _ = try SchemaApplication(schema: schema, engine: engine).apply()
            let runtime = try ProjectionRuntime(engine, schema.projections, upcasts: schema.upcasts)
            self.init(facade: Storage(engine: engine, runtime: runtime, upcasts: schema.upcasts))
        } catch {
            engine.closeNow()
            throw error
        }
    }
}
