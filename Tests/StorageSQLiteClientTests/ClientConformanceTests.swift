import StorageSQLiteClient
import Testing

/// The same promises of the client on each engine.
@Suite(.timeLimit(.minutes(10)))
struct ClientConformanceTests {
    @Test(arguments: TestEngine.allCases, ClientConformance.allCases)
    func enginesConform(_ engine: TestEngine, _ check: ClientConformance) async throws {
        try await engine.withClient { try await check.run($0) }
    }

    @Test(arguments: TestEngine.allCases, SharedFileConformance.allCases)
    func connectionsToOneFileConform(_ engine: TestEngine, _ check: SharedFileConformance) async throws {
        try await engine.withFile(connections: check.connectionCount, busyTimeout: check.busyTimeout) {
            try await check.run($0)
        }
    }
}

/// Faults that are planted in engines, and the checks that must find them: a suite that finds none proves nothing.
@Suite(.timeLimit(.minutes(10)))
struct PlantedFaultTests {
    /// In the connection that an engine gives to bodies: what runs statements and hands over rows.
    @Test(arguments: TestEngine.allCases, ConnectionFault.allCases)
    func faultsOfConnectionsAreFound(_ engine: TestEngine, _ fault: ConnectionFault) async throws {
        try await expectFound(fault.checks) { check in
            try await engine.withClient { try await check.run(fault.plant(in: $0)) }
        }
    }

    /// In what opens and ends transactions and observes them.
    @Test(arguments: TestEngine.allCases, TransactionFault.allCases)
    func faultsOfTransactionsAreFound(_ engine: TestEngine, _ fault: TransactionFault) async throws {
        try await expectFound(fault.checks) { check in
            try await engine.withClient { try await check.run(fault.plant(in: $0)) }
        }
    }

    #if SQLITE_ENGINE_GRDB
        /// In the database below the client: its transactions and observers.
        @Test(arguments: DatabaseFault.allCases)
        func faultsOfDatabasesAreFound(_ fault: DatabaseFault) async throws {
            try await expectFound(fault.checks) { check in
                try await FaultyDatabase.withClient(fault) { try await check.run($0) }
            }
        }
    #endif

    /// In one of several connections to a file.
    @Test(arguments: TestEngine.allCases, SharedFileConformance.allCases)
    func faultsBesideOtherConnectionsAreFound(_ engine: TestEngine, _ check: SharedFileConformance) async throws {
        try await engine.withFile(connections: check.connectionCount, busyTimeout: check.busyTimeout) { file in
            await #expect(throws: ClientConformance.Failure.self) { try await check.run(check.withFault(file)) }
        }
    }

    #if SQLITE_ENGINE_GRDB
        @Test func everyCheckHasAFault() {
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
        for check in checks {
            await #expect(throws: ClientConformance.Failure.self, "\(check.rawValue) doesn't find it") {
                try await run(check)
            }
        }
    }
}
