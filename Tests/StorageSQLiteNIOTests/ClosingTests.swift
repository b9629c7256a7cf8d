#if SQLITE_ENGINE_SQLITENIO
    import Foundation
    import NIOPosix
    import TestSupport
    import StorageSQLiteClient
    import Testing

    @testable import StorageSQLiteNIO

    @Suite(.timeLimit(.minutes(10)))
    struct ClosingTests {
        @Test("Calls after closing throw")
        func callsAfterClosing() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.close()
            try await connection.close()
            await expect(.closed) { try await connection.execute("SELECT 1") }
            await expect(.closed) { try await connection.query("SELECT 1") }
            await expect(.closed) { try await connection.transaction { _ in } }
            await expect(.closed) { try await connection.withTransaction { _ in } }
            await expect(.closed) { try await connection.lastInsertedRowID }
            var changes = connection.observeTables(["t"]).makeAsyncIterator()
            #expect(await changes.next() == nil)
        }

        @Test("Closing waits for what was asked before")
        func closingWaits() async throws {
            let folder = try TemporaryFolder()
            let connection = try await SQLiteConnection.open(storage: .file(path: folder.database))
            try await connection.execute("CREATE TABLE t (a)")
            let (inside, done) = (Gate(), Gate())
            let body = Task {
                try await connection.transaction { connection in
                    inside.open()
                    await done.wait()
                    try await connection.execute("INSERT INTO t VALUES (1)")
                }
            }
            await inside.wait()
            let waiter = Task { try await connection.execute("INSERT INTO t VALUES (2)") }
            try await eventually { connection.scope.waiterCount == 1 }
            let closing = (0..<2).map { _ in Task { try await connection.close() } }
            try await eventually { !connection.scope.isOpen }
            await expect(.closed) { try await connection.execute("INSERT INTO t VALUES (3)") }
            done.open()
            try await body.value
            #expect(try await waiter.value == 1)
            for task in closing { try await task.value }
            let again = try await SQLiteConnection.open(storage: .file(path: folder.database))
            #expect(try await again.query("SELECT a FROM t", as: Int.self) == [1, 2])
        }

        /// Files of this process that are open, by name.
        private func openFiles(_ path: String) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0))?.hasPrefix(path)
                    == true
            }
        }

        @Test("A connection that is released closes itself")
        func releasedConnectionCloses() async throws {
            let folder = try TemporaryFolder()
            var connection: SQLiteConnection? = try await .open(
                storage: .file(path: folder.database), configuration: .init(journal: .writeAheadLog))
            try await connection?.execute("CREATE TABLE t (a)")
            #expect(try openFiles(folder.database) > 0)
            var changes = try #require(connection).observeTables(["t"]).makeAsyncIterator()
            connection = nil
            #expect(await changes.next() == nil)
            try await eventually { try openFiles(folder.database) == 0 }
        }

        @Test("Closing in several tasks at once closes once")
        func closingAtOnce() async throws {
            for _ in 0..<100 {
                let connection = try await SQLiteConnection.open(storage: .memory)
                try await connection.execute("CREATE TABLE items(a)")
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for _ in 0..<4 { group.addTask { try await connection.close() } }
                    try await group.waitForAll()
                }
            }
        }

        @Test("A stopped thread pool is an error and leaves nothing open")
        func stoppedThreadPool() async throws {
            let folder = try TemporaryFolder()
            let threads = NIOThreadPool(numberOfThreads: 1)
            await expect(.closed) { try await SQLiteConnection.open(storage: .memory, threadPool: threads) }
            threads.start()
            let connection = try await SQLiteConnection.open(storage: .file(path: folder.database), threadPool: threads)
            try await connection.execute("CREATE TABLE t (a)")
            try await threads.shutdownGracefully()
            await expect(.closed) { try await connection.execute("SELECT 1") }
            await expect(.closed) { try await connection.transaction { _ in } }
            try await connection.close()
            #expect(try openFiles(folder.database) == 0)
        }
    }
#endif
