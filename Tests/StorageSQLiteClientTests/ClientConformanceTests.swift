import StorageSQLiteClient
import Testing

/// The same promises of the client on each engine.
@Suite(.timeLimit(.minutes(10)))
struct ClientConformanceTests {
    @Test("Engines conform", arguments: TestEngine.allCases, ClientConformance.allCases)
    func conformance(_ engine: TestEngine, _ check: ClientConformance) async throws {
        try await engine.withClient { try await check.run($0) }
    }

    /// SQLite's update hook isn't called for their rows.
    @Test("Tables without rowids are observed", arguments: TestEngine.allCases.filter(\.mayHaveTablesWithoutRowids))
    func tablesWithoutRowids(_ engine: TestEngine) async throws {
        struct Stop: Error {}
        try await engine.withClient { client in
            try await client.write { db in
                _ = try db.execute("CREATE TABLE pairs (k TEXT PRIMARY KEY, v) WITHOUT ROWID")
            }
            let changes = try await client.observeTables(["PAIRS", "users", "other"])
            var reader = changes.makeAsyncIterator()
            let statements = [
                "INSERT INTO pairs VALUES ('a', 1), ('b', 2)", "UPDATE pairs SET v = 3 WHERE k = 'a'",
                "DELETE FROM pairs",
            ]
            for (id, sql) in statements.enumerated() {
                try await client.write { db in
                    try db.execute(sql)
                    // So that an engine which doesn't see it has something to tell.
                    try db.execute("INSERT INTO users (id) VALUES (?)", [id])
                }
                #expect(try await reader.next() == ["PAIRS", "users"], "\(sql)")
            }
            // What changes nothing isn't reported, nor what is undone.
            try await client.write { db in _ = try db.execute("UPDATE pairs SET v = 4") }
            await #expect(throws: Stop.self) {
                try await client.write { db in
                    try db.execute("INSERT INTO pairs VALUES ('c', 1)")
                    throw Stop()
                }
            }
            try await client.write { db in _ = try db.execute("INSERT INTO other (id) VALUES (1)") }
            #expect(try await reader.next() == ["other"])
        }
    }

    @Test("Connections to one file conform", arguments: TestEngine.allCases, SharedFileConformance.allCases)
    func sharedFileConformance(_ engine: TestEngine, _ check: SharedFileConformance) async throws {
        try await engine.withFile(connections: check.connectionCount, busyTimeout: check.busyTimeout) {
            try await check.run($0)
        }
    }
}

/// Faults that are planted in engines, and the checks that must find them: a suite that finds none proves nothing.
@Suite(.timeLimit(.minutes(10)))
struct PlantedFaultTests {
    /// In the connection that an engine gives to bodies: what runs statements and hands over rows.
    @Test("Faults of connections are found", arguments: TestEngine.allCases, ConnectionFault.allCases)
    func connectionFaults(_ engine: TestEngine, _ fault: ConnectionFault) async throws {
        try await expectFound(fault.checks) { check in
            try await engine.withClient { try await check.run(fault.plant(in: $0)) }
        }
    }

    /// In what opens and ends transactions and observes them.
    @Test("Faults of transactions are found", arguments: TestEngine.allCases, TransactionFault.allCases)
    func transactionFaults(_ engine: TestEngine, _ fault: TransactionFault) async throws {
        try await expectFound(fault.checks) { check in
            try await engine.withClient { try await check.run(fault.plant(in: $0)) }
        }
    }

    #if SQLITE_ENGINE_GRDB
        /// In the database below the client: its transactions and observers.
        @Test("Faults of databases are found", arguments: DatabaseFault.allCases)
        func databaseFaults(_ fault: DatabaseFault) async throws {
            // It has several connections, so that the commit comes, on a busy machine as well.
            try await ClientConformance.$patienceForCommit.withValue(.seconds(60)) {
                try await expectFound(fault.checks) { check in
                    try await FaultyDatabase.withClient(fault) { try await check.run($0) }
                }
            }
        }
    #endif

    /// In one of several connections to a file.
    @Test("Faults beside other connections are found", arguments: TestEngine.allCases, SharedFileConformance.allCases)
    func sharedFileFaults(_ engine: TestEngine, _ check: SharedFileConformance) async throws {
        try await engine.withFile(connections: check.connectionCount, busyTimeout: check.busyTimeout) { file in
            await #expect(throws: ClientConformance.Failure.self) { try await check.run(check.withFault(file)) }
        }
    }

    #if SQLITE_ENGINE_GRDB
        @Test("Every check has a fault")
        func everyCheckHasAFault() {
            let found =
                ConnectionFault.allCases.flatMap(\.checks) + TransactionFault.allCases.flatMap(\.checks)
                + DatabaseFault.allCases.flatMap(\.checks)
            #expect(Set(ClientConformance.allCases).subtracting(found) == [])
        }
    #endif

    /// Each check judges by itself: an error of the engine on the way isn't a finding.
    private func expectFound(
        _ checks: [ClientConformance], _ run: (ClientConformance) async throws -> Void
    ) async throws {
        // What is missing never comes, so that there is no use in waiting for it.
        try await ClientConformance.$patience.withValue(.seconds(1)) {
            for check in checks {
                var isFound = false
                // Some need the right moment, which a busy machine may miss.
                for _ in 0..<3 where !isFound {
                    do { try await run(check) } catch is ClientConformance.Failure { isFound = true }
                }
                #expect(isFound, "\(check.rawValue) doesn't find it")
            }
        }
    }
}
