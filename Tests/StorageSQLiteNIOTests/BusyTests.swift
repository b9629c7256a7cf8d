#if SQLITE_ENGINE_SQLITENIO
    import TestSupport
    import StorageSQLiteClient
    import StorageSQLiteNIO
    import Testing

    @Suite(.timeLimit(.minutes(10)))
    struct BusyTests {
        private func open(
            _ folder: TemporaryFolder, busyTimeout: Duration = .seconds(300),
            journal: SQLiteConnectionConfiguration.Journal = .writeAheadLog
        ) async throws -> SQLiteConnection {
            try await .open(
                storage: .file(path: folder.database), configuration: .init(busyTimeout: busyTimeout, journal: journal))
        }

        @Test(
            "A writer waits for another", arguments: [SQLiteConnectionConfiguration.Journal.writeAheadLog, .unchanged])
        func writerWaitsForWriter(_ journal: SQLiteConnectionConfiguration.Journal) async throws {
            let folder = try TemporaryFolder()
            let (one, other) = (try await open(folder, journal: journal), try await open(folder, journal: journal))
            try await one.execute("CREATE TABLE t (a)")
            let inside = Gate()
            async let first: Void = one.transaction { connection in
                try await connection.execute("INSERT INTO t VALUES (1)")
                inside.open()
                // Long enough for the other one to come and wait.
                try await Task.sleep(for: .milliseconds(100))
                try await connection.execute("INSERT INTO t VALUES (2)")
            }
            await inside.wait()
            // Only what was busy runs again, not the statement before it.
            try await other.execute("SELECT 1; INSERT INTO t VALUES (3); INSERT INTO t VALUES (4)")
            try await first
            #expect(try await one.query("SELECT a FROM t ORDER BY rowid", as: Int.self) == [1, 2, 3, 4])
        }

        @Test("Waiting ends with the timeout")
        func busyTimeoutExpires() async throws {
            let folder = try TemporaryFolder()
            let (one, other) = (try await open(folder), try await open(folder, busyTimeout: .milliseconds(60)))
            try await one.execute("CREATE TABLE t (a)")
            try await one.transaction { connection in
                try await connection.execute("INSERT INTO t VALUES (1)")
                let start = ContinuousClock.now
                await expect(.busy) { try await other.execute("INSERT INTO t VALUES (2)") }
                await expect(.busy) { try await other.transaction { _ in } }
                await expect(.busy) { try await other.withTransaction { _ in } }
                let took = ContinuousClock.now - start
                #expect(took > .milliseconds(90))
                #expect(took < .seconds(300))
                // Reading isn't hindered.
                #expect(try await other.query("SELECT * FROM t").isEmpty)
            }
            try await other.execute("INSERT INTO t VALUES (2)")
        }

        @Test("Waiting holds no thread")
        func waitingHoldsNoThread() async throws {
            let folder = try TemporaryFolder()
            try await withThreads(1) { threads in
                let configuration = SQLiteConnectionConfiguration(busyTimeout: .seconds(600), journal: .writeAheadLog)
                let storage = SQLiteConnection.Storage.file(path: folder.database)
                let one = try await SQLiteConnection.open(
                    storage: storage, configuration: configuration, threadPool: threads)
                let other = try await SQLiteConnection.open(
                    storage: storage, configuration: configuration, threadPool: threads)
                try await one.execute("CREATE TABLE t (a)")
                let start = ContinuousClock.now
                let waiter = try await one.transaction { connection in
                    try await connection.execute("INSERT INTO t VALUES (1)")
                    let waiter = Task { try await other.withTransaction { try $0.execute("INSERT INTO t VALUES (2)") } }
                    // Long enough for the other one to come and wait.
                    try await Task.sleep(for: .milliseconds(50))
                    try await connection.execute("INSERT INTO t VALUES (3)")
                    return waiter
                }
                #expect(try await waiter.value == 1)
                #expect(ContinuousClock.now - start < .seconds(300))
                try await one.close()
                try await other.close()
            }
        }

        @Test("A transaction of a script doesn't continue outside of it")
        func interruptedScriptTransaction() async throws {
            let folder = try TemporaryFolder()
            let (one, other) = (try await open(folder), try await open(folder, busyTimeout: .seconds(600)))
            try await one.execute("CREATE TABLE t (a)")
            let (inside, done) = (Gate(), Gate())
            async let first: Void = one.transaction { connection in
                try await connection.execute("INSERT INTO t VALUES (1)")
                inside.open()
                await done.wait()
            }
            await inside.wait()
            // A script that waits where it shouldn't continues after a while, and isn't busy.
            let limit = Task {
                try await Task.sleep(for: .seconds(60))
                done.open()
            }
            // Its first insert is busy, and BEGIN is undone with it.
            await expect(.busy) {
                try await other.execute("BEGIN; INSERT INTO t VALUES (2); INSERT INTO t VALUES (3); COMMIT")
            }
            limit.cancel()
            done.open()
            try await first
            try await other.execute("BEGIN; INSERT INTO t VALUES (4); COMMIT")
            #expect(try await one.query("SELECT a FROM t ORDER BY a", as: Int.self) == [1, 4])
        }

        @Test("Waiting is cancelled")
        func waitingIsCancelled() async throws {
            let folder = try TemporaryFolder()
            let (one, other) = (try await open(folder), try await open(folder, busyTimeout: .seconds(600)))
            try await one.execute("CREATE TABLE t (a)")
            try await one.transaction { connection in
                try await connection.execute("INSERT INTO t VALUES (1)")
                let waiter = Task { try await other.execute("INSERT INTO t VALUES (2)") }
                // Long enough for the other one to come and wait.
                try await Task.sleep(for: .milliseconds(30))
                waiter.cancel()
                await expect(.cancelled) { try await waiter.value }
            }
        }

        /// Without a write-ahead log, a commit waits for those who read.
        @Test("A commit waits for readers")
        func commitWaitsForReaders() async throws {
            let folder = try TemporaryFolder()
            let one = try await open(folder, journal: .unchanged)
            let other = try await open(folder, journal: .unchanged)
            try await one.execute("CREATE TABLE t (a)")
            let reading = Gate()
            async let reader: Void = other.transaction(.read) { connection in
                _ = try await connection.query("SELECT * FROM t")
                reading.open()
                // Long enough for the commit to come and wait.
                try await Task.sleep(for: .milliseconds(60))
            }
            await reading.wait()
            try await one.transaction { try await $0.execute("INSERT INTO t VALUES (1)") }
            try await reader
            #expect(try await other.query("SELECT a FROM t", as: Int.self) == [1])
        }
    }
#endif
