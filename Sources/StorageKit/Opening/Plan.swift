public import Foundation
public import StorageCore
internal import StorageLog

/// Returns what opening the store with this schema would change, without changing it. All steps, including migrations, run in
/// one transaction that is then rolled back, so the plan is exact.
///
/// ```swift
/// print(try StorageKit.plan(at: url) { schema in schema.autoSchema(UserRecord.self) })
/// ```
///
/// A store that doesn't exist isn't created, and an empty file stays empty. Custom projections that would be created or rebuilt
/// are listed, but don't run.
///
/// - Throws: What opening the store would throw; also `busy`, because the call has to be the store's writer for a moment.
public func plan(
    at url: URL, config: StorageConfig = StorageConfig(), _ declare: (inout Schema) throws -> Void
) throws -> SchemaPlan {
    var schema = Schema()
    try declare(&schema)
    let path = try url.storePath
    let isInMemory = try !config.isReadOnly && StorageEngine.wouldCreate(path: path)
    let engine =
        isInMemory
        ? try StorageEngine.openStoreInMemory(configuration: config)
        : try StorageEngine.openStore(path: path, configuration: config)
    defer { engine.closeNow() }
    return try SchemaApplication(schema: schema, engine: engine).preview()
}
