import Foundation
import StorageKit
import StorageSQLiteClient
import StorageSQLiteNIO
import Testing

#if SQLITE_ENGINE_GRDB
    import GRDB
#endif

/// An engine that the conformance suite runs on.
enum TestEngine: String, CaseIterable, Sendable {
    #if SQLITE_ENGINE_GRDB
        case queue
        case pool
        case store
    #endif
    #if SQLITE_ENGINE_SQLITENIO
        case nioPool
        case nioConnection
    #endif

    /// Runs a body with a client of a new database with the tables of ``ClientConformance``, in a folder of its own.
    func withClient(_ body: (SQLiteClient) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("client-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("test.sqlite").path
        switch self {
        #if SQLITE_ENGINE_GRDB
            case .queue:
                let queue = try DatabaseQueue()
                try await queue.write { try $0.execute(sql: ClientConformance.sql) }
                try await body(.grdb(queue))
            case .pool:
                let pool = try DatabasePool(path: path)
                try await pool.write { try $0.execute(sql: ClientConformance.sql) }
                try await body(.grdb(pool))
                try pool.close()
            case .store:
                let context = try StorageKit.start(at: URL(fileURLWithPath: path)) { schema in
                    schema.migration("tables") { try $0.execute(sql: ClientConformance.sql) }
                    for table in ClientConformance.tables.keys.sorted() { schema.adopt(table) }
                }
                try await body(context.facade.sqliteClient)
                #expect(try await context.facade.verify().isSound)
                try await context.facade.close()
        #endif
        #if SQLITE_ENGINE_SQLITENIO
            case .nioPool:
                let pool = try await SQLiteConnectionPool.open(storage: .file(path: path))
                let client = SQLiteClient.nio(pool)
                try await client.write { db in _ = try db.execute(ClientConformance.sql) }
                try await body(client)
                try await pool.close()
            case .nioConnection:
                let connection = try await SQLiteConnection.open()
                try await withDependencies {
                    $0.defaultSQLiteConnection = connection
                } operation: {
                    try await connection.execute(ClientConformance.sql)
                    try await body(.nio)
                }
                try await connection.close()
        #endif
        }
    }

    #if SQLITE_ENGINE_GRDB
        /// Runs a body with clients of two connections to one new database, and whether the second may write.
        ///
        /// The second one is another of the same engine; of a queue and of a SwiftNIO connection it is a pool of GRDB.
        func withTwoClients(_ body: (SQLiteClient, SQLiteClient, Bool) async throws -> Void) async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("client-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let path = folder.appendingPathComponent("test.sqlite").path
            if self == .store {
                let context = try StorageKit.start(at: URL(fileURLWithPath: path)) { schema in
                    schema.migration("tables") { try $0.execute(sql: ClientConformance.sql) }
                    for table in ClientConformance.tables.keys.sorted() { schema.adopt(table) }
                }
                var configuration = StorageConfiguration()
                configuration.isReadOnly = true
                let other = try StorageKit.start(at: URL(fileURLWithPath: path), configuration: configuration).facade
                try await body(context.facade.sqliteClient, other.sqliteClient, false)
                try await other.close()
                return try await context.facade.close()
            }
            var settings = Configuration()
            settings.busyMode = .timeout(20)
            settings.journalMode = .wal
            let maker = try DatabasePool(path: path, configuration: settings)
            try await maker.write { try $0.execute(sql: ClientConformance.sql) }
            let other = SQLiteClient.grdb(maker)
            switch self {
            case .store: break
            case .queue: try await body(.grdb(try DatabaseQueue(path: path, configuration: settings)), other, true)
            case .pool: try await body(.grdb(try DatabasePool(path: path, configuration: settings)), other, true)
            #if SQLITE_ENGINE_SQLITENIO
                case .nioPool:
                    let pools = (
                        try await SQLiteConnectionPool.open(storage: .file(path: path)),
                        try await SQLiteConnectionPool.open(storage: .file(path: path))
                    )
                    try await body(.nio(pools.0), .nio(pools.1), true)
                    try await pools.0.close()
                    try await pools.1.close()
                case .nioConnection:
                    let connection = try await SQLiteConnection.open(storage: .file(path: path))
                    try await body(.nio(connection), other, true)
                    try await connection.close()
            #endif
            }
            try maker.close()
        }
    #endif
}
