public import Foundation
internal import GRDB
public import StorageCore
public import StorageEntities
public import StorageLog
internal import StorageMaintenance
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
    /// An open store, as ``StorageKit/start(at:cacheTTL:diskQuota:config:configuration:_:)`` returns it.
    public struct Context: Sendable {
        /// The calls that most programs need.
        public let facade: Storage

        /// The ways to the database below the facade.
        public var storage: DatabaseAccess { DatabaseAccess(storage: facade) }
        /// What caches and encoders are made with.
        public var config: StorageConfig { facade.config }

        /// The repository of an entity.
        public func makeRepository<E: RegisteredEntity>(
            _ type: E.Type, record: E.Record.Type = E.Record.self
        ) -> GenericRepository<E, E.Record> { facade.repository(type) }

        /// The repository of an entity, without its record's type.
        public func repository<E: RegisteredEntity>(
            _ type: E.Type, record: E.Record.Type = E.Record.self
        ) -> AnyRepository<E> { facade.anyRepository(type) }
    }

    /// Opens the store in a file of the user's data folder (`~/.local/share` on Linux), or makes one there.
    public static func start(
        fileName: String = "app.sqlite", cacheTTL: TTL? = nil, diskQuota: Quota? = nil, config: StorageConfig? = nil,
        configuration: StorageConfiguration = StorageConfiguration(),
        _ declare: (inout Schema) throws -> Void = { $0.addKVCache() }
    ) throws -> Context {
        let folder = try FileManager.default.url(
            for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
        return try start(
            at: folder.appendingPathComponent(fileName), cacheTTL: cacheTTL, diskQuota: diskQuota, config: config,
            configuration: configuration, declare)
    }

    /// Opens the store at a URL, or makes one there.
    ///
    /// Only one process may have a store open for writing; others open it with `isReadOnly`.
    ///
    /// - Parameters:
    ///   - url: The store's file. Files that end in `.lock` and `.bell` appear beside it when it is opened for
    ///     writing: they show other processes who writes, wake them after commits, and remember the last one that was
    ///     acknowledged.
    ///   - cacheTTL: How long caches keep a value: 5 minutes where neither this nor `config` says otherwise.
    ///   - diskQuota: How much room a ``DiskCache`` may take: 30 megabytes where neither says otherwise.
    ///   - config: What caches and encoders are made with.
    ///   - configuration: How the store itself is opened.
    ///   - declare: Names entities, indexes and migrations; what is missing is made, in one transaction.
    /// - Throws: ``StorageError``: `busy` where another process writes, `not-a-store`, `unsupported-format`,
    ///   `schema-mismatch` where the declaration doesn't fit what is stored, `newer-schema` where a newer version of the
    ///   program was here.
    public static func start(
        at url: URL, cacheTTL: TTL? = nil, diskQuota: Quota? = nil, config: StorageConfig? = nil,
        configuration: StorageConfiguration = StorageConfiguration(),
        _ declare: (inout Schema) throws -> Void = { _ in }
    ) throws -> Context {
        var schema = Schema()
        try declare(&schema)
        let settings = settings(cacheTTL, diskQuota, config)
        let configuration = configuration.timed(by: config)
        do {
            return try open(url, schema, configuration, settings)
        } catch let error as StorageError
            where schema.options.eraseDatabaseOnSchemaChange && !configuration.isReadOnly
            && [.schemaMismatch, .newerSchema, .migrationFailed].contains(error.code)
        {
            schema.options.logger?("erasing \(url.path), which doesn't fit the schema: \(error.message)")
            try StorageEngine.erase(path: url.path)
            return try open(url, schema, configuration, settings)
        }
    }

    /// A store in memory, gone when it is closed or no longer used.
    public static func inMemory(
        cacheTTL: TTL? = nil, diskQuota: Quota? = nil, config: StorageConfig? = nil,
        configuration: StorageConfiguration = StorageConfiguration(),
        _ declare: (inout Schema) throws -> Void = { _ in }
    ) throws -> Context {
        var schema = Schema()
        try declare(&schema)
        let settings = settings(cacheTTL, diskQuota, config)
        let engine = try StorageEngine.openStoreInMemory(configuration: configuration.timed(by: config))
        return try context(engine, schema, settings)
    }

    private static func settings(_ ttl: TTL?, _ quota: Quota?, _ config: StorageConfig?) -> StorageConfig {
        var settings = config ?? StorageConfig(diskQuotaBytes: Quota.megabytes(30).bytes)
        if let ttl { settings.defaultTTL = ttl.seconds }
        if let quota { settings.diskQuotaBytes = quota.bytes }
        return settings
    }

    private static func open(
        _ url: URL, _ schema: Schema, _ configuration: StorageConfiguration, _ settings: StorageConfig
    ) throws -> Context {
        try context(
            try StorageEngine.openStore(path: url.path, configuration: configuration), schema, settings)
    }

    private static func context(
        _ engine: StorageEngine, _ schema: Schema, _ settings: StorageConfig
    ) throws -> Context {
        do {
            _ = try SchemaRun(schema: schema, engine: engine).apply()
            let runtime = try ProjectionRuntime(engine, schema.projections, upcasts: schema.upcasts)
            return Context(
                facade: Storage(engine: engine, runtime: runtime, config: settings, upcasts: schema.upcasts))
        } catch {
            engine.closeNow()
            throw error
        }
    }
}

extension StorageConfiguration {
    /// Commit times come from the configuration's clock, where it is another than the system's and none was given here.
    fileprivate func timed(by config: StorageConfig?) -> StorageConfiguration {
        guard let config, !(config.clock is SystemClock), clock is SystemCommitClock else { return self }
        var copy = self
        copy.clock = ClockReading(config.clock)
        return copy
    }
}
