import StorageCore
import StorageSQLiteClient
import TestSupport

/// What an engine might do wrong around the bodies that it runs, whichever engine it is.
enum TransactionFault: CaseIterable, Sendable {
    case commitsWhatThrew
    case readsWithTheWriter
    case losesChanges
    case runsTwice
    case undoesEverything
    case commitsWhatWasCancelled
    case readsWhenItIsCancelled
    /// Stops between two rows only, however long a step takes.
    case finishesItsStepWhenItIsCancelled
    case losesDeletions
    /// Tells a change that there wasn't.
    case tellsAtOnce
    /// Tells with each change all that came before.
    case tellsAgain

    var checks: [ClientConformance] {
        switch self {
        case .commitsWhatThrew: [.aThrowingWriteChangesNothing, .bodiesThatAskAndThrowChangeNothing]
        case .readsWithTheWriter: [.readsChangeNothing]
        case .losesChanges: [.commitsAreObserved, .callbacksAreCalled]
        case .runsTwice: [.writesAreSerial]
        case .undoesEverything: [.bodiesThatAskForTheConnectionShareIt, .bodiesThatAskMayWait]
        case .commitsWhatWasCancelled: [.cancelledTasksDoNothing, .cancelledWritesChangeNothing]
        case .readsWhenItIsCancelled: [.cancellingStopsReading, .cancellingStopsInTheMiddleOfAStep]
        case .finishesItsStepWhenItIsCancelled: [.cancellingStopsInTheMiddleOfAStep]
        case .losesDeletions: [.deletingAllRowsIsObserved]
        case .tellsAtOnce: [.observationsEnd]
        case .tellsAgain: [.aSlowReaderIsToldOnce]
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
        case .undoesEverything:
            struct Undone: Error {}
            faulty.writing = { body in
                do {
                    try await client.writing {
                        try body($0)
                        throw Undone()
                    }
                } catch is Undone {}
            }
        case .commitsWhatWasCancelled:
            faulty.writing = { body in
                let writing = Task {
                    try await client.writing { do { try body($0) } catch is CancellationError {} }
                }
                try await writing.value
                try Task.checkCancellation()
            }
        case .readsWhenItIsCancelled:
            faulty.reading = { body in try await Task { try await client.reading(body) }.value }
        case .finishesItsStepWhenItIsCancelled:
            faulty.reading = { body in
                let isCancelled = Counter()
                // Another task reads, which isn't cancelled.
                let reading = Task {
                    try await client.reading { db in
                        try body(SQLiteTransaction(LookingConnection(engine: db.connection, isCancelled: isCancelled)))
                    }
                }
                try await withTaskCancellationHandler {
                    try await reading.value
                } onCancel: {
                    isCancelled.add()
                }
            }
        case .losesDeletions: faulty.observing = { try await client.observeTables($0.subtracting(["users"])) }
        case .tellsAtOnce: faulty.observing = { try await Self.retelling($0, of: client, atOnce: true) }
        case .tellsAgain: faulty.observing = { try await Self.retelling($0, of: client, atOnce: false) }
        }
        return faulty
    }

    private static func retelling(
        _ tables: Set<String>, of client: SQLiteClient, atOnce: Bool
    ) async throws -> SQLiteTableChanges {
        let sink = SQLiteTableChanges.Sink()
        if atOnce { sink.send(tables) }
        let changes = try await client.observeTables(tables)
        let task = Task {
            var reported: Set<String> = []
            for try await tables in changes {
                if !atOnce { reported.formUnion(tables) }
                sink.send(reported.union(tables))
            }
        }
        return SQLiteTableChanges(sink) { task.cancel() }
    }
}

/// An engine's connection that looks after each row whether its task was cancelled, and at no other time.
private struct LookingConnection: SQLiteEngineConnection {
    let engine: any SQLiteEngineConnection
    let isCancelled: Counter

    func run(_ sql: String, _ arguments: [StorageValue], onRow body: (SQLiteRow) throws -> Bool) throws -> Int {
        try engine.run(sql, arguments) { row in
            let goesOn = try body(row)
            if isCancelled.value > 0 { throw CancellationError() }
            return goesOn
        }
    }

    func tables(readBy sql: String?) throws -> Set<String> { try engine.tables(readBy: sql) }

    var lastInsertedRowID: Int64 { engine.lastInsertedRowID }
}
