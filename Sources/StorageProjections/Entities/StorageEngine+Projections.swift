package import StorageLog

extension StorageEngine {
    /// Opens a store with the derived state that belongs to every commit, for programs and the command line alike.
    package static func openStore(path: String, configuration: StorageConfiguration) throws -> StorageEngine {
        try open(path: path, configuration: withProjections(configuration))
    }

    /// Like ``openStore(path:configuration:)``, for a store that lives in memory.
    package static func openStoreInMemory(configuration: StorageConfiguration) throws -> StorageEngine {
        try openInMemory(configuration: withProjections(configuration))
    }

    private static func withProjections(_ configuration: StorageConfiguration) -> StorageConfiguration {
        var configuration = configuration
        configuration.makeProjections = { writer, db in
            try ShadowTables(writer: writer, db: db).remakeMissing()
            return [try FullTextProjection(writer), UserProjections()]
        }
        return configuration
    }
}
