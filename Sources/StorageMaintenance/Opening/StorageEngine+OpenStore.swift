package import StorageCore
internal import StorageEntities
package import StorageLog
internal import StorageProjections

extension StorageEngine {
    /// Opens a store with the derived state that belongs to every commit, for programs and the command line alike.
    package static func openStore(path: String, configuration: StorageConfig) throws -> StorageEngine {
        try open(path: path, configuration: configuration, makeProjections: makeProjections)
    }

    /// Like ``openStore(path:configuration:)``, for an in-memory store.
    package static func openStoreInMemory(configuration: StorageConfig) throws -> StorageEngine {
        try openInMemory(configuration: configuration, makeProjections: makeProjections)
    }

    private static let makeProjections: InlineProjectionMaker = { writer, db in
        try RebuildWriter(writer: writer, db: db).remakeMissing()
        return [try FullTextProjection(writer), UserProjections()]
    }
}
