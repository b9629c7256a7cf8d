#if SQLITE_ENGINE_SQLITENIO
    import Foundation
    import NIOPosix
    import TestSupport
    import StorageSQLiteClient
    import Testing

    @testable import StorageSQLiteNIO

    /// Bodies without a parameter on this engine: they find the connection of their transaction, and hold no thread.
    @Suite(.timeLimit(.minutes(10)))
    struct ClientBodyTests {
        struct Stop: Error {}

        /// A client, and the connection that a body finds outside of it.
        private func withClients(
            _ body: (SQLiteClient, _ outside: SQLiteConnection) async throws -> Void
        ) async throws {
            try await withThreads(1) { threads in
                let connection = try await SQLiteConnection.open(threadPool: threads)
                try await connection.execute("CREATE TABLE t (a)")
                try await withDependencies {
                    $0.defaultSQLiteConnection = connection
                } operation: {
                    try await body(.nio, connection)
                    try await body(.nio(connection), connection)
                }
                try await connection.close()
                let folder = try TemporaryFolder()
                let pool = try await SQLiteConnectionPool.open(
                    storage: .file(path: folder.database), threadPool: threads)
                try await pool.write { try await $0.execute("CREATE TABLE t (a)") }
                try await body(.nio(pool), pool.writer)
                try await pool.close()
            }
        }

        private func values(_ client: SQLiteClient) async throws -> [Int] {
            try await client.read { db in try db.fetchAll("SELECT a FROM t ORDER BY a", as: Int.self) }
        }

        /// The example of the reference.
        @Test("A body finds the connection of its transaction")
        func connectionOfTransaction() async throws {
            try await withClients { client, _ in
                try await client.write { db in _ = try db.execute("DELETE FROM t") }
                try await client.write {
                    @Dependency(\.defaultSQLiteConnection) var connection
                    try await connection.execute("INSERT INTO t VALUES (1)")
                    try await client.write { db in _ = try db.execute("INSERT INTO t VALUES (2)") }
                    #expect(try await connection.query("SELECT a FROM t ORDER BY a", as: Int.self) == [1, 2])
                }
                let rows = try await client.read {
                    @Dependency(\.defaultSQLiteConnection) var connection
                    return try await connection.query("SELECT a FROM t ORDER BY a", as: Int.self)
                }
                #expect(rows == [1, 2])
                await #expect(throws: Stop.self) {
                    try await client.write {
                        @Dependency(\.defaultSQLiteConnection) var connection
                        try await connection.execute("INSERT INTO t VALUES (3)")
                        throw Stop()
                    }
                }
                await expect(.readOnly) {
                    try await client.read {
                        @Dependency(\.defaultSQLiteConnection) var connection
                        try await connection.execute("INSERT INTO t VALUES (4)")
                    }
                }
                #expect(try await values(client) == [1, 2])
            }
        }

        @Test("A nested body is undone alone")
        func nestedBodyIsUndoneAlone() async throws {
            try await withClients { client, _ in
                try await client.write { db in _ = try db.execute("DELETE FROM t") }
                try await client.write {
                    @Dependency(\.defaultSQLiteConnection) var connection
                    let outer = connection
                    try await outer.execute("INSERT INTO t VALUES (1)")
                    await #expect(throws: Stop.self) {
                        try await client.write {
                            try await connection.execute("INSERT INTO t VALUES (2)")
                            // The connection of the body around this one would wait for it.
                            await expect(.invalidArgument) { try await outer.execute("INSERT INTO t VALUES (3)") }
                            throw Stop()
                        }
                    }
                    try await client.write { try await connection.execute("INSERT INTO t VALUES (4)") }
                }
                #expect(try await values(client) == [1, 4])
            }
        }

        /// Calls that would wait for the body, or for a stream of rows that its task reads, say so.
        @Test("Waiting for oneself is refused")
        func selfWaitIsRefused() async throws {
            try await withClients { client, outside in
                try await client.write {
                    await expect(.invalidArgument) { try await outside.execute("INSERT INTO t VALUES (5)") }
                }
            }
            // So that the stream is still open at its first row.
            let connection = try await SQLiteConnection.open(configuration: .init(maximumRowsPerBatch: 1))
            let client = SQLiteClient.nio(connection)
            for try await _ in connection.rows("SELECT 1 UNION ALL SELECT 2") {
                await expect(.invalidArgument) { try await client.write {} }
                await expect(.invalidArgument) { try await client.write { _ in } }
                break
            }
            try await client.write {}
            let pool = try await SQLiteConnectionPool.open(storage: .memory)
            try await SQLiteClient.nio(pool).read { await expect(.invalidArgument) { try await pool.read { _ in } } }
            // It is of no use behind the body.
            let leaked = try await client.write {
                @Dependency(\.defaultSQLiteConnection) var connection
                return connection
            }
            await expect(.invalidArgument) { try await leaked.execute("SELECT 1") }
        }

        /// A body that waits for another database whose pool is the same, with one thread.
        @Test("A body that waits holds no thread")
        func waitingBodyHoldsNoThread() async throws {
            try await withThreads(1) { threads in
                let a = try await SQLiteConnection.open(threadPool: threads)
                let b = try await SQLiteConnection.open(threadPool: threads)
                let found = try await SQLiteClient.nio(a).write { try await b.query("SELECT 1", as: Int.self) }
                #expect(found == [1])
                let inside = try await SQLiteClient.nio(a).read {
                    try await SQLiteClient.nio(b).write {
                        try await SQLiteClient.nio(a).read { db in try db.fetchOne("SELECT 2", as: Int.self) }
                    }
                }
                #expect(inside == 2)
                try await a.close()
                try await b.close()
            }
        }

        /// Closures that are put in an engine's place count for bodies without a parameter, too.
        @Test("Replaced closures count for bodies without a parameter too")
        func replacedClosures() async throws {
            let connection = try await SQLiteConnection.open()
            var client = SQLiteClient.nio(connection)
            client.writing = { _ in throw Stop() }
            await #expect(throws: Stop.self) { try await client.write {} }
            try await client.read {}
        }

        @Test("A database in memory is opened by the first call")
        func lazyInMemoryDatabase() async throws {
            let (one, other) = (SQLiteClient.nioInMemory(), SQLiteClient.nioInMemory())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        try await one.write { db in _ = try db.execute("CREATE TABLE IF NOT EXISTS t (a)") }
                    }
                }
                try await group.waitForAll()
            }
            try await one.write {
                @Dependency(\.defaultSQLiteConnection) var connection
                try await connection.execute("INSERT INTO t VALUES (1)")
            }
            #expect(try await values(one) == [1])
            await expect(.sql) { try await values(other) }
        }

        /// In a process of its own, for all of which it is said.
        @Test("A prepared connection is for all")
        func preparedConnection() async throws {
            await #expect(processExitsWith: .success) {
                try await prepareDependencies { $0.defaultSQLiteConnection = try await SQLiteConnection.open() }
                let found = try await Task.detached {
                    @Dependency(\.defaultSQLiteConnection) var connection
                    try await connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (7)")
                    return try await SQLiteClient.nio.read { db in try db.fetchAll("SELECT a FROM t", as: Int.self) }
                }.value
                precondition(found == [7])
            }
        }
    }
#endif
