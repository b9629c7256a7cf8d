#if SQLITE_ENGINE_SQLITENIO
    import TestSupport
    import StorageSQLiteClient
    import StorageSQLiteNIO
    import Synchronization
    import Testing

    @Suite(.timeLimit(.minutes(10)))
    struct ConnectionPoolTests {
        private struct Failure: Error {}

        private func open(_ folder: TemporaryFolder, readers: Int = 4) async throws -> SQLiteConnectionPool {
            let pool = try await SQLiteConnectionPool.open(
                storage: .file(path: folder.database), configuration: .init(maximumReaders: readers))
            try await pool.write { db in try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (0)") }
            return pool
        }

        @Test("Bodies of both kinds read and write")
        func bodiesOfBothKinds() async throws {
            for storage in [nil, try TemporaryFolder()] {
                let pool = try await SQLiteConnectionPool.open(
                    storage: storage.map { .file(path: $0.database) } ?? .memory)
                // Each is the kind that its text asks for.
                try await pool.write { db in try db.execute("CREATE TABLE t (a)") }
                try await pool.write { connection in try await connection.execute("INSERT INTO t VALUES (1)") }
                try await pool.write { db in
                    try db.execute("INSERT INTO t VALUES (2)")
                    try db.execute("INSERT INTO t VALUES (3)")
                }
                try await pool.write { connection in
                    let count = try await connection.query("SELECT * FROM t").count
                    try await connection.execute("INSERT INTO t VALUES (?)", [count + 1])
                }
                let values = try await pool.read { db in try db.fetchAll("SELECT a FROM t ORDER BY a", as: Int.self) }
                #expect(values == [1, 2, 3, 4])
                let count = try await pool.read { connection in try await connection.query("SELECT * FROM t").count }
                #expect(count == 4)
                await expect(.readOnly) { try await pool.read { db in try db.execute("INSERT INTO t VALUES (5)") } }
                await expect(.readOnly) {
                    try await pool.read { connection in try await connection.execute("INSERT INTO t VALUES (5)") }
                }
                await #expect(throws: Failure.self) {
                    try await pool.write { db in
                        try db.execute("INSERT INTO t VALUES (5)")
                        throw Failure()
                    }
                }
                #expect(try await pool.read { db in try db.fetchOne("SELECT count(*) FROM t", as: Int.self) } == 4)
                try await pool.close()
            }
        }

        @Test("Sixty-four readers share four connections")
        func sharedReaders() async throws {
            let pool = try await open(try TemporaryFolder())
            let (inside, most) = (Shared(0), Shared(0))
            try await withThrowingTaskGroup(of: Int.self) { group in
                for number in 0..<64 {
                    group.addTask {
                        try await pool.read { connection in
                            let count = inside.update {
                                $0 += 1
                                return $0
                            }
                            most.update { $0 = max($0, count) }
                            let value = try await connection.query("SELECT a + ? FROM t", [number], as: Int.self)[0]
                            // The first four wait for one another.
                            try await eventually { most.value >= 4 }
                            inside.update { $0 -= 1 }
                            return value
                        }
                    }
                }
                let values = try await group.reduce(into: []) { $0.append($1) }
                #expect(values.sorted() == Array(0..<64))
            }
            #expect(most.value == 4)
            try await pool.close()
        }

        @Test("A reader sees the state of its beginning")
        func readerSnapshot() async throws {
            let pool = try await open(try TemporaryFolder())
            let (inside, written) = (Gate(), Gate())
            async let seen = pool.read { connection in
                inside.open()
                await written.wait()
                // Its first statement comes after the commit.
                return try await connection.query("SELECT a FROM t", as: Int.self)
            }
            await inside.wait()
            try await pool.write { db in try db.execute("UPDATE t SET a = 1") }
            written.open()
            #expect(try await seen == [0])
            #expect(try await pool.read { db in try db.fetchAll("SELECT a FROM t", as: Int.self) } == [1])
            try await pool.close()
        }

        @Test("Writers come one after another")
        func writersAreSerial() async throws {
            let pool = try await open(try TemporaryFolder())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    group.addTask {
                        if number.isMultiple(of: 2) {
                            try await pool.write { connection in
                                let a = try await connection.query("SELECT a FROM t", as: Int.self)[0]
                                await Task.yield()
                                try await connection.execute("UPDATE t SET a = ?", [a + 1])
                            }
                        } else {
                            try await pool.write { db in
                                let a = try db.fetchOne("SELECT a FROM t", as: Int.self) ?? 0
                                try db.execute("UPDATE t SET a = ?", [a + 1])
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await pool.read { db in try db.fetchOne("SELECT a FROM t", as: Int.self) } == 60)
            try await pool.close()
        }

        @Test("The pool is refused inside of its bodies")
        func nestedPoolCallIsRefused() async throws {
            for storage in [nil, try TemporaryFolder()] {
                let pool = try await SQLiteConnectionPool.open(
                    storage: storage.map { .file(path: $0.database) } ?? .memory,
                    configuration: .init(maximumReaders: 1))
                try await pool.read { _ in
                    await expect(.invalidArgument) {
                        try await pool.read { connection in try await connection.query("SELECT 1") }
                    }
                    await expect(.invalidArgument) { try await pool.write { db in try db.execute("SELECT 1") } }
                    await expect(.invalidArgument) { try await pool.close() }
                }
                try await pool.write { connection in
                    await expect(.invalidArgument) { try await pool.read { db in try db.execute("SELECT 1") } }
                    try await connection.transaction { _ in
                        await expect(.invalidArgument) {
                            try await pool.write { connection in try await connection.execute("SELECT 1") }
                        }
                    }
                }
                #expect(try await pool.read { db in try db.fetchOne("SELECT 1", as: Int.self) } == 1)
                try await pool.close()
            }
        }

        @Test("A waiting reader is cancelled")
        func waitingReaderIsCancelled() async throws {
            let pool = try await open(try TemporaryFolder(), readers: 1)
            let (inside, done) = (Gate(), Gate())
            let reader = Task {
                try await pool.read { connection in
                    inside.open()
                    await done.wait()
                    return try await connection.query("SELECT a FROM t", as: Int.self)
                }
            }
            await inside.wait()
            let waiter = Task { try await pool.read { db in try db.fetchOne("SELECT a FROM t", as: Int.self) } }
            // Time to wait in line; cancelled before that, it ends the same.
            try await Task.sleep(for: .milliseconds(10))
            waiter.cancel()
            await expect(.cancelled) { try await waiter.value }
            done.open()
            #expect(try await reader.value == [0])
            try await pool.close()
        }

        @Test("Closing waits for bodies")
        func closingWaitsForBodies() async throws {
            let folder = try TemporaryFolder()
            let pool = try await open(folder)
            let (inside, done) = (Gate(), Gate())
            let body = Task {
                try await pool.read { connection in
                    inside.open()
                    await done.wait()
                    return try await connection.query("SELECT a FROM t", as: Int.self)
                }
            }
            await inside.wait()
            let isClosed = Shared(false)
            let closing = Task {
                try await pool.close()
                isClosed.update { $0 = true }
            }
            try await eventually {
                do {
                    try await pool.read { db in try db.execute("SELECT 1") }
                    return false
                } catch {
                    return (error as? SQLiteClientError)?.code == .closed
                }
            }
            #expect(!isClosed.value)
            done.open()
            #expect(try await body.value == [0])
            try await closing.value
            try await pool.close()
            await expect(.closed) { try await pool.write { db in try db.execute("SELECT 1") } }
            // The write-ahead log is removed.
            #expect(try folder.listing().keys.sorted() == ["test.sqlite"])
        }

        @Test("A pool for reading changes nothing")
        func readOnlyPool() async throws {
            let folder = try TemporaryFolder()
            try await open(folder).close()
            let pool = try await SQLiteConnectionPool.open(
                storage: .file(path: folder.database), configuration: .init(isReadOnly: true))
            #expect(try await pool.read { db in try db.fetchOne("SELECT a FROM t", as: Int.self) } == 0)
            await expect(.readOnly) { try await pool.write { db in try db.execute("UPDATE t SET a = 1") } }
            try await pool.close()
        }
    }
#endif
