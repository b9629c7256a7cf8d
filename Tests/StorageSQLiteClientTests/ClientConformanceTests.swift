import StorageSQLiteClient
import Testing

/// The same promises of the client on each engine.
struct ClientConformanceTests {
    @Test(arguments: TestEngine.allCases, ClientConformance.allCases)
    func enginesConform(_ engine: TestEngine, _ check: ClientConformance) async throws {
        try await engine.withClient { try await check.run($0) }
    }

    /// Engines with a fault each, and the check that must find it.
    @Test(arguments: PlantedFault.allCases)
    func faultsAreFound(_ fault: PlantedFault) async throws {
        var found: Set<ClientConformance> = []
        for check in fault.checks {
            try await TestEngine.allCases[0].withClient { client in
                do { try await check.run(fault.plant(in: client)) } catch { found.insert(check) }
            }
        }
        #expect(found == Set(fault.checks))
    }
}

/// What a bad engine might do.
enum PlantedFault: CaseIterable, Sendable {
    case commitsWhatThrew
    case readsWithTheWriter
    case losesChanges
    case runsTwice

    var checks: [ClientConformance] {
        switch self {
        case .commitsWhatThrew: [.aThrowingWriteChangesNothing, .bodiesThatAskAndThrowChangeNothing]
        case .readsWithTheWriter: [.readsChangeNothing]
        case .losesChanges: [.commitsAreObserved]
        case .runsTwice: [.writesAreSerial]
        }
    }

    func plant(in client: SQLiteClient) -> SQLiteClient {
        var faulty = client
        switch self {
        case .commitsWhatThrew:
            faulty.writing = { body in
                let failure = try await client.write { db -> (any Error)? in
                    do { try body(db) } catch { return error }
                    return nil
                }
                if let failure { throw failure }
            }
        case .readsWithTheWriter: faulty.reading = client.writing
        case .losesChanges: faulty.observing = { try await client.observeTables($0.subtracting(["posts"])) }
        case .runsTwice:
            faulty.writing = { body in
                try await client.writing(body)
                try await client.writing(body)
            }
        }
        return faulty
    }
}
