import StorageSQLiteClient

/// What an engine might do wrong around the bodies that it runs, whichever engine it is.
enum TransactionFault: CaseIterable, Sendable {
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
