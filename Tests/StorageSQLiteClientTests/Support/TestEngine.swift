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
}
