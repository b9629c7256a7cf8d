import StorageSQLiteClient
import Testing

/// The same promises of the client on each engine.
struct ClientConformanceTests {
    @Test(arguments: TestEngine.allCases, ClientConformance.allCases)
    func enginesConform(_ engine: TestEngine, _ check: ClientConformance) async throws {
        try await engine.withClient { try await check.run($0) }
    }
}

/// Faults that are planted in engines, and the checks that must find them: a suite that finds none proves nothing.
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

    private func expectFound(
        _ checks: [ClientConformance], _ run: (ClientConformance) async throws -> Void
    ) async throws {
        for check in checks {
            await #expect(throws: (any Error).self, "\(check.rawValue) doesn't find it") { try await run(check) }
        }
    }
}
