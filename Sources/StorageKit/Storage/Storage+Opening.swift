internal import StorageCore
internal import StorageLog
internal import StorageProjections

extension Storage {
    /// Opens the store in a file as it is, or makes an empty one there: for programs that know nothing of its entities.
    ///
    /// Nothing is declared, made or migrated, and no projection of its program runs.
    ///
    /// - Throws: ``StorageError``: `busy` where another process writes, `not-a-store`, `unsupported-format`.
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
