import Foundation
import StorageCore
import StorageRecords
import StorageSQLiteClient

/// What every engine of `SQLiteClient` must do: checks that throw where it doesn't, so that a faulty engine can be shown to fail.
///
/// Each is given a client of a database with ``tables``, which are empty.
enum ClientConformance: String, CaseIterable, Sendable {
    case valuesComeBackAsTheyWere
    case rowsAreDecodedByName
    case aThrowingWriteChangesNothing
    case readsAreOneState
    case readsChangeNothing
    case savepointsAreUndoneAlone
    case statementsInARow
    case countsAreThoseOfTheLastStatement
    case statementsRunInsideTheirOwnRows
    case errorsSayWhatTheyAre
    case argumentsAreCounted
    case notANumberIsRefused
    case largeResultsAreHandedOverRowByRow
    case manyClientsAtOnce
    case writesAreSerial
    case commitsAreObserved
    case whatIsUndoneIsNotObserved
    case deletingAllRowsIsObserved
    case observationsEnd
    case aSlowReaderIsToldOnce
    case callbacksAreCalled
    case cancelledTasksDoNothing
    case cancellingStopsReading
    case cancellingStopsInTheMiddleOfAStep
    case cancelledWritesChangeNothing
    case bodiesThatAskForTheConnectionShareIt
    case bodiesThatAskAndThrowChangeNothing
    case bodiesThatAskMayWait
    case bodiesInsideAreUndoneAlone
    case bodiesBesideEachOtherAreUndoneAlone

    /// How long a check waits for a call that must come.
    @TaskLocal static var patience = Duration.seconds(60)
    /// How long a reading body waits for a commit, which can't come where both have one connection.
    @TaskLocal static var patienceForCommit = Duration.seconds(2)

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    static let tables = [
        "items": "id INTEGER PRIMARY KEY, name TEXT, amount REAL, data BLOB",
        "things": "id INTEGER PRIMARY KEY, value",
        "cards": "id INTEGER PRIMARY KEY, name TEXT, kind TEXT, tags TEXT, made TEXT",
        "labels": "id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE",
        "counters": "id INTEGER PRIMARY KEY, value INTEGER",
        "users": "id INTEGER PRIMARY KEY, name TEXT",
        "posts": "id INTEGER PRIMARY KEY, user INTEGER",
        "other": "id INTEGER PRIMARY KEY",
    ]

    static var sql: String { tables.map { "CREATE TABLE \($0) (\($1));" }.joined() }

    func run(_ client: SQLiteClient) async throws {
        switch self {
        case .valuesComeBackAsTheyWere: try await values(client)
        case .rowsAreDecodedByName: try await decoding(client)
        case .aThrowingWriteChangesNothing: try await throwing(client)
        case .readsAreOneState: try await snapshots(client)
        case .readsChangeNothing: try await readOnly(client)
        case .savepointsAreUndoneAlone: try await savepoints(client)
        case .statementsInARow: try await script(client)
        case .countsAreThoseOfTheLastStatement: try await oldCounts(client)
        case .statementsRunInsideTheirOwnRows: try await recursion(client)
        case .errorsSayWhatTheyAre: try await errors(client)
        case .argumentsAreCounted: try await counts(client)
        case .notANumberIsRefused: try await notANumber(client)
        case .largeResultsAreHandedOverRowByRow: try await largeResults(client)
        case .manyClientsAtOnce: try await concurrency(client)
        case .writesAreSerial: try await serialWrites(client)
        case .commitsAreObserved: try await observation(client)
        case .whatIsUndoneIsNotObserved: try await undone(client)
        case .deletingAllRowsIsObserved: try await truncation(client)
        case .observationsEnd: try await ending(client)
        case .aSlowReaderIsToldOnce: try await slowReader(client)
        case .callbacksAreCalled: try await callbacks(client)
        case .cancelledTasksDoNothing: try await cancellation(client)
        case .cancellingStopsReading: try await cancelledReading(client)
        case .cancellingStopsInTheMiddleOfAStep: try await cancelledStep(client)
        case .cancelledWritesChangeNothing: try await cancelledWriting(client)
        case .bodiesThatAskForTheConnectionShareIt: try await asking(client)
        case .bodiesThatAskAndThrowChangeNothing: try await askingAndThrowing(client)
        case .bodiesThatAskMayWait: try await askingAndWaiting(client)
        case .bodiesInsideAreUndoneAlone: try await nested(client)
        case .bodiesBesideEachOtherAreUndoneAlone: try await nestedAtOnce(client)
        }
    }
}

// MARK: Values

extension ClientConformance {
    func values(_ client: SQLiteClient) async throws {
        // Text with a NUL is left out: a store refuses it, with an error.
        let values: [StorageValue] = [
            .null, .integer(0), .integer(.max), .integer(.min), .real(-0.0), .real(1.0), .real(.infinity),
            .real(.leastNonzeroMagnitude),
            .text(""), .text("e\u{301}é👩‍👩‍👧"), .blob(Data()), .blob(Data([0, 255, 0])),
        ]
        try await client.write { db in
            for (index, value) in values.enumerated() {
                try db.execute("INSERT INTO things (id, value) VALUES (?, ?)", [index, Plain(value)])
            }
        }
        let found = try await client.read { db in
            try db.fetchAll("SELECT value FROM things ORDER BY id") { $0[0] }
        }
        try expect(found == values, "\(found) came back for \(values)")
        let date = Date(timeIntervalSinceReferenceDate: 790_164_000.125)
        let id = UUID()
        let typed = try await client.read { db in
            try (
                db.fetchOne("SELECT ?", [date], as: Date.self), db.fetchOne("SELECT ?", [id], as: UUID.self),
                db.fetchOne("SELECT NULL", as: Int?.self), db.fetchOne("SELECT ?", [true], as: Bool.self),
                db.fetchOne("SELECT 'x' WHERE 0", as: String.self)
            )
        }
        try expect(typed.0 == date && typed.1 == id && typed.3 == true, "\(typed)")
        try expect(typed.2 == .some(nil) && typed.4 == nil, "NULL and no row are different: \(typed)")
    }

    /// A value that is bound as it is.
    private struct Plain: StorageColumnValue {
        static var columnType: String { "" }
        let storageValue: StorageValue
        init(_ value: StorageValue) { storageValue = value }
        init(storageValue: StorageValue) { self.storageValue = storageValue }
    }

    private struct Item: Codable, Equatable {
        enum Kind: String, Codable { case plain, fancy }
        var id: Int
        var name: String?
        var kind: Kind
        var tags: [String]
        var made: Date
    }

    func decoding(_ client: SQLiteClient) async throws {
        let made = Date(timeIntervalSinceReferenceDate: 5)
        try await client.write { db in
            try db.execute(
                "INSERT INTO cards (id, name, kind, tags, made) VALUES (?, ?, ?, ?, ?)",
                [1, String?.none, "fancy", #"["a","b"]"#, made])
        }
        do {
            let items = try await client.read { db in try db.fetchAll("SELECT * FROM cards", as: Item.self) }
            try expect(items == [Item(id: 1, name: nil, kind: .fancy, tags: ["a", "b"], made: made)], "\(items)")
        } catch let error as DecodingError {
            throw Failure(description: "a row wasn't decoded: \(error)")
        }
        do {
            _ = try await client.read { db in try db.fetchAll("SELECT id, name FROM cards", as: Item.self) }
            throw Failure(description: "a missing column was ignored")
        } catch is DecodingError {}
    }
}

// MARK: Errors

extension ClientConformance {
    func errors(_ client: SQLiteClient) async throws {
        try await client.write { db in
            try db.execute("INSERT INTO labels (id, name) VALUES (1, 'a')")
        }
        try await expectError(.constraint) {
            try await client.write { db in try db.execute("INSERT INTO labels (id, name) VALUES (2, 'a')") }
        }
        try await expectError(.constraint) {
            try await client.write { db in try db.execute("INSERT INTO labels (id, name) VALUES (2, NULL)") }
        }
        try await expectError(.sql) { try await client.read { db in try db.execute("SELEC 1") } }
        try await expectError(.sql) { try await client.read { db in try db.execute("SELECT * FROM nowhere") } }
        try await expectError(.column) {
            try await client.read { db in try db.fetchAll("SELECT id FROM labels") { try $0.value(Int.self, "nam") } }
                .count
        }
    }

    func counts(_ client: SQLiteClient) async throws {
        try await expectError(.sql) { try await client.read { db in try db.execute("SELECT ?, ?", [1]) } }
        try await expectError(.sql) { try await client.read { db in try db.execute("SELECT ?", [1, 2]) } }
        try await expectError(.sql) { try await client.read { db in try db.execute("SELECT ?") } }
    }

    func notANumber(_ client: SQLiteClient) async throws {
        do {
            try await client.write { db in
                _ = try db.execute("INSERT INTO items (id, amount) VALUES (1, ?)", [Double.nan])
            }
            throw Failure(description: "NaN was stored, as NULL")
        } catch let error as StorageError {
            try expect(error.code == .invalidValue, "\(error)")
        }
    }

    /// Expects an error of the client.
    func expectError<Result>(
        _ code: SQLiteClientError.Code, _ body: () async throws -> Result
    ) async throws {
        do {
            _ = try await body()
            throw Failure(description: "no error where \(code) was expected")
        } catch let error as SQLiteClientError {
            try expect(error.code == code, "\(error) where \(code) was expected")
            try expect(!error.message.isEmpty && !error.remedy.isEmpty, "\(error)")
        }
    }
}

func expect(_ holds: Bool, _ message: @autoclosure () -> String) throws {
    if !holds { throw ClientConformance.Failure(description: message()) }
}
