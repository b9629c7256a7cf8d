#if SQLITE_ENGINE_SQLITENIO
    import TestSupport
    import StorageSQLiteClient
    import Testing

    @testable import StorageSQLiteNIO

    struct TransactionTests {
        private struct Failure: Error {}

        private func opened() async throws -> SQLiteConnection {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.execute("CREATE TABLE t (a UNIQUE)")
            return connection
        }

        private func values(_ connection: SQLiteConnection) async throws -> [Int] {
            try await connection.query("SELECT a FROM t ORDER BY a", as: Int.self)
        }

        @Test("A body that returns commits")
        func returningCommits() async throws {
            let connection = try await opened()
            let count = try await connection.transaction { connection in
                try await connection.execute("INSERT INTO t VALUES (1)")
                try await connection.execute("INSERT INTO t VALUES (2)")
                return try await connection.query("SELECT a FROM t").count
            }
            #expect(count == 2)
            #expect(try await values(connection) == [1, 2])
            try await connection.withTransaction { db in try db.execute("INSERT INTO t VALUES (?)", [3]) }
            #expect(try await values(connection) == [1, 2, 3])
        }

        @Test("A body that throws rolls back")
        func throwingRollsBack() async throws {
            let connection = try await opened()
            await #expect(throws: Failure.self) {
                try await connection.transaction { connection in
                    try await connection.execute("INSERT INTO t VALUES (1)")
                    throw Failure()
                }
            }
            await #expect(throws: Failure.self) {
                try await connection.withTransaction { db in
                    try db.execute("INSERT INTO t VALUES (1)")
                    throw Failure()
                }
            }
            #expect(try await values(connection) == [])
        }

        @Test("A cancelled task rolls back")
        func cancellingRollsBack() async throws {
            let connection = try await opened()
            let inside = Gate()
            let task = Task {
                try await connection.transaction { connection in
                    try await connection.execute("INSERT INTO t VALUES (1)")
                    inside.open()
                    // Ignores that it is cancelled.
                    try? await Task.sleep(for: .seconds(60))
                }
            }
            await inside.wait()
            task.cancel()
            await expect(.cancelled) { try await task.value }
            #expect(try await values(connection) == [])
        }

        @Test("Savepoints are undone by themselves")
        func savepoints() async throws {
            let connection = try await opened()
            try await connection.transaction { connection in
                try await connection.execute("INSERT INTO t VALUES (1)")
                await #expect(throws: Failure.self) {
                    try await connection.transaction { connection in
                        try await connection.execute("INSERT INTO t VALUES (2)")
                        try await connection.transaction { try await $0.execute("INSERT INTO t VALUES (3)") }
                        throw Failure()
                    }
                }
                try await connection.transaction { connection in
                    try await connection.withTransaction { db in try db.execute("INSERT INTO t VALUES (4)") }
                    await #expect(throws: Failure.self) {
                        try await connection.withTransaction { db in
                            try db.execute("INSERT INTO t VALUES (5)")
                            throw Failure()
                        }
                    }
                }
            }
            #expect(try await values(connection) == [1, 4])
            try await connection.withTransaction { db in
                _ = try db.savepoint { try db.execute("INSERT INTO t VALUES (6)") }
                let _: Int? = try? db.savepoint {
                    try db.execute("INSERT INTO t VALUES (7)")
                    throw Failure()
                }
            }
            #expect(try await values(connection) == [1, 4, 6])
        }

        @Test("A reading transaction changes nothing")
        func readOnlyTransaction() async throws {
            let connection = try await opened()
            await expect(.readOnly) {
                try await connection.transaction(.read) { try await $0.execute("INSERT INTO t VALUES (1)") }
            }
            await expect(.readOnly) {
                try await connection.withTransaction(.read) { db in try db.execute("INSERT INTO t VALUES (1)") }
            }
            // Nor in a savepoint, and afterwards writing continues.
            await expect(.readOnly) {
                try await connection.transaction(.read) { connection in
                    try await connection.transaction { try await $0.execute("INSERT INTO t VALUES (1)") }
                }
            }
            try await connection.execute("INSERT INTO t VALUES (9)")
            #expect(try await connection.transaction(.read) { try await self.values($0) } == [9])
        }

        @Test("A body can neither begin nor end transactions")
        func transactionStatements() async throws {
            let connection = try await opened()
            for sql in ["COMMIT", "ROLLBACK", "END", "BEGIN", "SELECT 1; COMMIT"] {
                await expect(.invalidArgument) {
                    try await connection.transaction { connection in
                        try await connection.execute("INSERT INTO t VALUES (1)")
                        try await connection.execute(sql)
                    }
                }
                await expect(.invalidArgument) { try await connection.withTransaction { db in try db.execute(sql) } }
            }
            #expect(try await values(connection) == [])
        }

        @Test("A transaction that is left open is rolled back")
        func openTransactionIsRolledBack() async throws {
            let connection = try await opened()
            await expect(.invalidArgument) { try await connection.execute("BEGIN; INSERT INTO t VALUES (1)") }
            #expect(try await values(connection) == [])
            try await connection.execute("BEGIN; INSERT INTO t VALUES (1); COMMIT")
            await expect(.constraint) {
                try await connection.execute("BEGIN; INSERT INTO t VALUES (2); INSERT INTO t VALUES (1); COMMIT")
            }
            #expect(try await values(connection) == [1])
        }

        @Test("A transaction that SQLite rolled back doesn't continue outside")
        func rollbackBySQLite() async throws {
            let connection = try await opened()
            try await connection.execute("INSERT INTO t VALUES (1)")
            await expect(.invalidArgument) {
                try await connection.transaction { connection in
                    try await connection.execute("INSERT INTO t VALUES (2)")
                    // SQLite rolls the whole transaction back.
                    _ = try? await connection.execute("INSERT OR ROLLBACK INTO t VALUES (1)")
                    try await connection.execute("INSERT INTO t VALUES (3)")
                }
            }
            await expect(.invalidArgument) {
                try await connection.transaction { connection in
                    _ = try? await connection.execute("INSERT OR ROLLBACK INTO t VALUES (1)")
                }
            }
            #expect(try await values(connection) == [1])
        }

        @Test("A constraint of the commit rolls back")
        func deferredConstraint() async throws {
            let connection = try await opened()
            try await connection.execute(
                "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a DEFERRABLE INITIALLY DEFERRED)"
            )
            await expect(.constraint) {
                try await connection.transaction { try await $0.execute("INSERT INTO b VALUES (1)") }
            }
            await expect(.constraint) {
                try await connection.withTransaction { db in try db.execute("INSERT INTO b VALUES (1)") }
            }
            #expect(try await connection.query("SELECT * FROM b").isEmpty)
        }

        @Test("A body's connection is useless afterwards")
        func connectionAfterBody() async throws {
            let connection = try await opened()
            let leaked = try await connection.transaction { $0 }
            await expect(.invalidArgument) { try await leaked.execute("INSERT INTO t VALUES (1)") }
            await expect(.invalidArgument) { try await leaked.transaction { _ in } }
            await expect(.invalidArgument) { try await leaked.close() }
        }

        @Test("Tasks of a body share its connection")
        func tasksOfBody() async throws {
            let connection = try await opened()
            try await connection.transaction { connection in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<50 {
                        group.addTask { try await connection.execute("INSERT INTO t VALUES (?)", [number]) }
                    }
                    try await group.waitForAll()
                }
            }
            #expect(try await values(connection) == Array(0..<50))
        }
    }
#endif
