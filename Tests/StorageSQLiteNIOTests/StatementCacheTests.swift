#if SQLITE_ENGINE_SQLITENIO
    import CSQLite
    import StorageCore
    import StorageSQLiteClient
    import Testing

    @testable import StorageSQLiteNIO

    struct StatementCacheTests {
        private func cached(_ connection: SQLiteConnection) async throws -> Int {
            try await connection.engine.run { $0.cachedStatementCount }
        }

        @Test("No more statements are kept than configured")
        func statementLimit() async throws {
            var configuration = SQLiteConnectionConfiguration()
            configuration.statementCacheSize = 8
            let connection = try await SQLiteConnection.open(storage: .memory, configuration: configuration)
            for number in 0..<200 { #expect(try await connection.query("SELECT \(number)", as: Int.self) == [number]) }
            #expect(try await cached(connection) == 8)
        }

        @Test("The cache can be turned off")
        func cacheCanBeOff() async throws {
            var configuration = SQLiteConnectionConfiguration()
            configuration.statementCacheSize = 0
            let connection = try await SQLiteConnection.open(storage: .memory, configuration: configuration)
            for _ in 0..<3 { #expect(try await connection.query("SELECT 1", as: Int.self) == [1]) }
            #expect(try await cached(connection) == 0)
        }

        @Test("Arguments aren't kept")
        func argumentsAreNotKept() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            #expect(try await connection.query("SELECT ?", ["secret"], as: String.self) == ["secret"])
            await expect(.sql) { try await connection.query("SELECT ?") }
            #expect(try await connection.query("SELECT ?", [nil as Int?])[0][0] == .null)
        }

        @Test("A statement in use isn't shared")
        func statementInUse() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2), (3)")
            // From here on the cache has it.
            _ = try await connection.query("SELECT a FROM t ORDER BY a")
            let pairs = try await connection.withTransaction { db in
                var pairs: [[Int]] = []
                try db.forEachRow("SELECT a FROM t ORDER BY a") { outer in
                    let a = try outer.value(Int.self, at: 0)
                    pairs += try db.fetchAll("SELECT a FROM t ORDER BY a", as: Int.self).map { [a, $0] }
                    return true
                }
                return pairs
            }
            #expect(pairs == (1...3).flatMap { a in (1...3).map { [a, $0] } })
        }

        @Test("An argument that can't be bound affects no other statement")
        func unbindableArgument() async throws {
            // The failure is noted by thread, so all runs on one.
            try await withThreads(1) { threads in
                let connection = try await SQLiteConnection.open(storage: .memory, threadPool: threads)
                _ = try await connection.engine.run {
                    sqlite3_limit(try $0.connection.handle, SQLITE_LIMIT_LENGTH, 1_000)
                }
                let large = String(repeating: "a", count: 2_000)
                await expect(.database) { try await connection.query("SELECT length(?)", [large]) }
                await #expect(throws: StorageError.self) {
                    try await connection.query("SELECT ?, ?", [large, Double.nan])
                }
                #expect(try await connection.query("SELECT ?", [1], as: Int.self) == [1])
                try await connection.close()
            }
        }

        @Test("Texts that only Swift takes for equal are two statements")
        func canonicallyEqualTexts() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            #expect(try await connection.query("SELECT length('\u{e9}')", as: Int.self) == [1])
            #expect(try await connection.query("SELECT length('e\u{301}')", as: Int.self) == [2])
        }
    }
#endif
