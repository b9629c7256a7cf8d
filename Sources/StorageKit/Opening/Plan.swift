public import Foundation
public import StorageCore
internal import StorageLog

/// Returns what opening the store with this schema would change: a dry run. All steps, migrations included, run in one transaction that is then
/// rolled back, so the plan is exact and nothing is kept.
///
/// ```swift
/// print(try StorageKit.plan(at: url) { schema in schema.autoSchema(UserRecord.self) })
/// ```
///
/// Custom projections that would be created or rebuilt are included, without being run.
///
/// - Throws: What opening it would throw; also `busy`, because it needs to be the store's writer for a moment.
public func plan(
    at url: URL, config: StorageConfig = StorageConfig(), _ declare: (inout Schema) throws -> Void
) throws -> SchemaPlan {
    var schema = Schema()
    try declare(&schema)
    let engine = try StorageEngine.openStore(path: url.path, configuration: config)
    defer { engine.closeNow() }
    return try SchemaApplication(schema: schema, engine: engine).preview()
}
