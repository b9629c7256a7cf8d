import GRDB
import StorageCore
import StorageLog
import StorageMaintenance

/// One state of a store, open for reading: what the commands that look into history share.
///
/// Not `Sendable`: it lives inside one read, on its connection's thread.
final class StoreReader {
    let connection: Connection
    let catalog: Catalog
    let log: LogReader
    let index: LogIndex
    let tags: TagReader

    var head: LogHead { index.head }
    var points: PointResolver { PointResolver(index: index, tags: tags, log: log) }

    init(_ connection: Connection) throws {
        self.connection = connection
        catalog = try Catalog.load(connection)
        log = LogReader(connection)
        index = try LogIndex(log)
        tags = TagReader(log)
    }
}

extension StoreOption {
    /// Opens the store for reading only.
    func openForReading() throws -> StorageEngine {
        let configuration = StorageConfig(isReadOnly: true)
        return try StorageEngine.openStore(path: path(), configuration: configuration)
    }

    /// Runs `body` on one state of the store.
    func read<Result: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Result) async throws -> Result {
        let engine = try openForReading()
        let result = try await engine.read(body)
        try await engine.close()
        return result
    }
}

extension StorageEngine {
    /// Runs `body` on one state of the store.
    func read<Result: Sendable>(_ body: @escaping @Sendable (StoreReader) throws -> Result) async throws -> Result {
        try await read { (db: GRDB.Database) in
            let connection = try db.connection
            return try body(StoreReader(connection))
        }
    }
}
