public import Foundation
internal import StorageLog
internal import StorageMaintenance

extension StorageKit {
    /// What opening the store with this schema would change: a dry run. Everything is really done in one transaction,
    /// migrations included, and then undone, so nothing is guessed and nothing is kept.
    ///
    /// ```swift
    /// print(try StorageKit.plan(at: url) { schema in schema.autoSchema(UserRecord.self) })
    /// ```
    ///
    /// Projections of your own that would be created or rebuilt are included, without being run.
    ///
    /// - Throws: What opening it would throw; also `busy`, because it needs to be the store's writer for a moment.
    public static func plan(
        at url: URL, configuration: StorageConfiguration = StorageConfiguration(),
        _ declare: (inout Schema) throws -> Void
    ) throws -> SchemaPlan {
        var schema = Schema()
        try declare(&schema)
        let engine = try StorageEngine.openStore(path: url.path, configuration: configuration)
        defer { engine.closeNow() }
        return try SchemaRun(schema: schema, engine: engine).preview()
    }
}
