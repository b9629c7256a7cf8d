internal import StorageCore
internal import StorageLog
internal import StorageProjections

extension Storage {
    /// Opens the store in a file as it is, or creates an empty one there: for programs that don't know its entities.
    ///
    /// Nothing is declared, created or migrated, and none of its program's projections runs.
    ///
    /// - Throws: ``StorageError``: `busy` if another process writes, `not-a-store`, `unsupported-format`.
    package static func open(
        path: String, configuration: StorageConfig = StorageConfig()
    ) throws -> Storage {
        let engine = try StorageEngine.openStore(path: path, configuration: configuration)
        do {
            return Storage(engine: engine, runtime: try ProjectionRuntime(engine, [], upcasts: [:]))
        } catch {
            engine.closeNow()
            throw error
        }
    }
}
