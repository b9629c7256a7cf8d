public import Foundation
internal import GRDB
public import StorageCore
internal import StorageLog
internal import StorageProjections

/// Opens the store in a file of the user's data folder (`~/.local/share` on Linux), or makes one there.
///
/// ```swift
/// let context = try StorageKit.start(fileName: "notes.sqlite") { schema in
///     schema.addKVCache()
///     schema.autoSchema(NoteRecord.self)
/// }
/// ```
///
/// - Parameters: As those of ``start(at:cacheTTL:diskQuota:config:_:)``.
/// - Throws: ``StorageError`` as ``start(at:cacheTTL:diskQuota:config:_:)`` does; an error of Foundation where there is no
///   such folder and none can be made.
public func start(
    fileName: String = "app.sqlite", cacheTTL: TTL? = nil, diskQuota: Quota? = nil, config: StorageConfig? = nil,
    _ declare: (inout Schema) throws -> Void = { $0.addKVCache() }
) throws -> Context {
    let folder = try FileManager.default.url(
        for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
    return try start(
        at: folder.appendingPathComponent(fileName), cacheTTL: cacheTTL, diskQuota: diskQuota, config: config, declare)
}

/// Opens the store at a URL, or makes one there.
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
/// The call returns when the store is open and every step of its schema is done, on the thread that made it: where a long migration
/// may be due, call it from a task of its own.
///
/// - Parameters:
///   - url: The store's file. Files that end in `.lock` and `.bell` appear beside it when it is opened for
///     writing: they show other processes who writes, wake them after commits, and remember the last one that was
///     acknowledged.
///   - cacheTTL: How long caches keep a value: 5 minutes where neither this nor `config` says otherwise.
///   - diskQuota: How much room a ``DiskCache`` may take: 30 megabytes where neither says otherwise.
///   - config: How the store is opened, and what caches and encoders are made with.
///   - declare: Names entities, indexes and migrations; what is missing is made, in one transaction.
/// - Throws: ``StorageError``: `busy` where another process writes, `not-a-store`, `unsupported-format`,
///   `schema-mismatch` where the declaration doesn't fit what is stored, `newer-schema` where a newer version of the
///   program was here, `migration-failed` where a step of it fails, `not-found` where there is no store to read; also what
///   `declare` throws.
public func start(
    at url: URL, cacheTTL: TTL? = nil, diskQuota: Quota? = nil, config: StorageConfig? = nil,
    _ declare: (inout Schema) throws -> Void = { _ in }
) throws -> Context {
    var schema = Schema()
    try declare(&schema)
    let config = StorageConfig(config, cacheTTL: cacheTTL, diskQuota: diskQuota)
    do {
        return try Context(try StorageEngine.openStore(path: url.path, configuration: config), schema)
    } catch let error as StorageError
        where schema.options.eraseDatabaseOnSchemaChange && !config.isReadOnly
        && [.schemaMismatch, .newerSchema, .migrationFailed].contains(error.code)
    {
        schema.options.logger?("erasing \(url.path), which doesn't fit the schema: \(error.message)")
        try StorageEngine.erase(path: url.path)
        return try Context(try StorageEngine.openStore(path: url.path, configuration: config), schema)
    }
}

/// Opens a store in memory, gone when it is closed or no longer used.
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
    /// What the parameters of a call say goes before what the configuration says.
    fileprivate init(_ config: StorageConfig?, cacheTTL: TTL?, diskQuota: Quota?) {
        self = config ?? StorageConfig(diskQuotaBytes: Quota.megabytes(30).bytes)
        if let cacheTTL { defaultTTL = cacheTTL }
        if let diskQuota { diskQuotaBytes = diskQuota.bytes }
    }
}

extension Context {
    /// Applies the schema to a store that has just been opened; one that it doesn't fit is closed.
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
