import Foundation
import StorageKit
import StorageSQLiteClient
import StorageSQLiteNIO
import TestSupport
import Testing

#if SQLITE_ENGINE_GRDB
    import GRDB
    import StorageMaintenance
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

    /// Tables of entities all have rowids.
    var mayHaveTablesWithoutRowids: Bool {
        #if SQLITE_ENGINE_GRDB
            self != .store
        #else
            true
        #endif
    }

    /// Runs a body with a client of a new database with the tables of ``ClientConformance``, in a folder of its own.
    func withClient(_ body: (SQLiteClient) async throws -> Void) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("test.sqlite")
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

    /// Runs a body with connections to one new file with the tables of ``ClientConformance``.
    ///
    /// The last one is a pool of GRDB where the engine is a queue or a SwiftNIO connection. Of a store the first one writes, others
    /// are clients of the same store or have it open for reading.
    func withFile(
        connections count: Int, busyTimeout: Duration = .seconds(60), _ body: (SharedFile) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("test.sqlite")
        let file = SharedFile(path: path, connections: try await open(count, path, busyTimeout))
        do { try await body(file) } catch {
            try? await file.close()
            throw error
        }
        try await file.close()
    }

    private func open(_ count: Int, _ path: String, _ busyTimeout: Duration) async throws -> [SharedFile.Connection] {
        switch self {
        #if SQLITE_ENGINE_GRDB
            case .store: return try openStore(count, path, busyTimeout)
            case .queue, .pool:
                return try (0..<count).map { place in
                    try openGRDB(path, busyTimeout, isQueue: self == .queue && place < count - 1, isFirst: place == 0)
                }
        #endif
        #if SQLITE_ENGINE_SQLITENIO
            case .nioPool, .nioConnection:
                var connections: [SharedFile.Connection] = []
                for place in 0..<count {
                    #if SQLITE_ENGINE_GRDB
                        if self == .nioConnection, place == count - 1 {
                            connections.append(try openGRDB(path, busyTimeout, isQueue: false, isFirst: false))
                            break
                        }
                    #endif
                    let connection = try await openNIO(path, busyTimeout)
                    if place == 0 {
                        try await connection.client.write { db in _ = try db.execute(ClientConformance.sql) }
                    }
                    connections.append(connection)
                }
                return connections
        #endif
        }
    }

    #if SQLITE_ENGINE_GRDB
        private func openGRDB(
            _ path: String, _ busyTimeout: Duration, isQueue: Bool, isFirst: Bool
        ) throws -> SharedFile.Connection {
            var settings = Configuration()
            settings.busyMode = .timeout(busyTimeout / .seconds(1))
            settings.journalMode = .wal
            let database: any DatabaseWriter & SQLiteDatabase =
                isQueue
                ? try DatabaseQueue(path: path, configuration: settings)
                : try DatabasePool(path: path, configuration: settings)
            if isFirst { try database.write { try $0.execute(sql: ClientConformance.sql) } }
            return SharedFile.Connection(client: .grdb(database), mayWrite: true) { try database.close() }
        }

        private func openStore(
            _ count: Int, _ path: String, _ busyTimeout: Duration
        ) throws -> [SharedFile.Connection] {
            var configuration = StorageConfig()
            configuration.busyTimeout = busyTimeout
            let storage = try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration) { schema in
                schema.migration("tables") { try $0.execute(sql: ClientConformance.sql) }
                for table in ClientConformance.tables.keys.sorted() { schema.adopt(table) }
            }.facade
            configuration.isReadOnly = true
            return try (0..<count).map { place in
                guard !place.isMultiple(of: 2) else {
                    return SharedFile.Connection(client: storage.sqliteClient, mayWrite: true) {
                        if place == 0 { try await storage.close() }
                    }
                }
                let reader = try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration).facade
                return SharedFile.Connection(client: reader.sqliteClient, mayWrite: false) { try await reader.close() }
            }
        }
    #endif

    #if SQLITE_ENGINE_SQLITENIO
        private func openNIO(_ path: String, _ busyTimeout: Duration) async throws -> SharedFile.Connection {
            let configuration = SQLiteConnectionConfiguration(busyTimeout: busyTimeout, journal: .writeAheadLog)
            if self == .nioPool {
                let pool = try await SQLiteConnectionPool.open(
                    storage: .file(path: path), configuration: configuration)
                return SharedFile.Connection(client: .nio(pool), mayWrite: true) { try await pool.close() }
            }
            let connection = try await SQLiteConnection.open(
                storage: .file(path: path), configuration: configuration)
            return SharedFile.Connection(client: .nio(connection), mayWrite: true) { try await connection.close() }
        }
    #endif
}

/// A file that several connections are open to.
struct SharedFile: Sendable {
    struct Connection: Sendable {
        var client: SQLiteClient
        let mayWrite: Bool
        let close: @Sendable () async throws -> Void
    }

    let path: String
    var connections: [Connection]

    func close() async throws {
        for connection in connections.reversed() { try await connection.close() }
    }
}
