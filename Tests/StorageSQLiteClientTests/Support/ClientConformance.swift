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
    case bodiesThatAskForTheConnectionShareIt
    case bodiesThatAskAndThrowChangeNothing
    case bodiesThatAskMayWait

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
        case .bodiesThatAskForTheConnectionShareIt: try await asking(client)
        case .bodiesThatAskAndThrowChangeNothing: try await askingAndThrowing(client)
        case .bodiesThatAskMayWait: try await askingAndWaiting(client)
        }
    }
}

// MARK: Values

extension ClientConformance {
    private func values(_ client: SQLiteClient) async throws {
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
                db.fetchOne(Date.self, "SELECT ?", [date]), db.fetchOne(UUID.self, "SELECT ?", [id]),
                db.fetchOne(Int?.self, "SELECT NULL"), db.fetchOne(Bool.self, "SELECT ?", [true]),
                db.fetchOne(String.self, "SELECT 'x' WHERE 0")
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

    private func decoding(_ client: SQLiteClient) async throws {
        let made = Date(timeIntervalSinceReferenceDate: 5)
        try await client.write { db in
            try db.execute(
                "INSERT INTO cards (id, name, kind, tags, made) VALUES (?, ?, ?, ?, ?)",
                [1, String?.none, "fancy", #"["a","b"]"#, made])
        }
        let items = try await client.read { db in try db.fetchAll(Item.self, "SELECT * FROM cards") }
        try expect(items == [Item(id: 1, name: nil, kind: .fancy, tags: ["a", "b"], made: made)], "\(items)")
        do {
            _ = try await client.read { db in try db.fetchAll(Item.self, "SELECT id, name FROM cards") }
            throw Failure(description: "a missing column was ignored")
        } catch is DecodingError {}
    }
}

// MARK: Transactions

extension ClientConformance {
    private struct Stop: Error {}

    private func throwing(_ client: SQLiteClient) async throws {
        do {
            try await client.write { db in
                try db.execute("INSERT INTO items (id) VALUES (1)")
                throw Stop()
            }
            throw Failure(description: "the body's error is lost")
        } catch is Stop {}
        try expect(try await count(client) == 0, "a body that threw left a row")
    }

    private func snapshots(_ client: SQLiteClient) async throws {
        try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (1)") }
        // How far both are: the reader has counted, the writer has committed.
        let (counted, committed) = (Counter(), Counter())
        async let reading = client.read { db in
            let before = try db.fetchOne(Int.self, "SELECT count(*) FROM items")
            counted.add()
            // Where both have one connection, the writer waits for the reader.
            let deadline = ContinuousClock.now + .seconds(2)
            while committed.value == 0, ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.001) }
            return (before, try db.fetchOne(Int.self, "SELECT count(*) FROM items"))
        }
        // An engine that fails never counts; then the error is thrown behind the write.
        let deadline = ContinuousClock.now + .seconds(30)
        while counted.value == 0, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(1)) }
        try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (2)") }
        committed.add()
        let (before, after) = try await reading
        try expect(before == after, "a reading body saw \(before ?? -1), then \(after ?? -1) rows")
    }

    private func readOnly(_ client: SQLiteClient) async throws {
        do {
            try await client.read { db in _ = try db.execute("INSERT INTO items (id) VALUES (1)") }
            throw Failure(description: "a reading body could change the database")
        } catch let error as SQLiteClientError {
            try expect(error.code == .readOnly, "\(error)")
        }
        try expect(try await count(client) == 0, "a reading body left a row")
    }

    private func savepoints(_ client: SQLiteClient) async throws {
        try await client.write { db in
            try db.execute("INSERT INTO items (id) VALUES (1)")
            do {
                try db.savepoint {
                    try db.execute("INSERT INTO items (id) VALUES (2)")
                    throw Stop()
                }
            } catch is Stop {}
            try db.savepoint { _ = try db.execute("INSERT INTO items (id) VALUES (3)") }
        }
        let ids = try await client.read { db in try db.fetchAll(Int.self, "SELECT id FROM items ORDER BY id") }
        try expect(ids == [1, 3], "\(ids)")
    }

    private func script(_ client: SQLiteClient) async throws {
        let changed = try await client.write { db in
            try db.execute(
                """
                INSERT INTO items (id) VALUES (1), (2), (3); -- three
                UPDATE items SET name = 'x' WHERE id < 3;
                """)
        }
        try expect(changed == 2, "the last statement changed \(changed) rows")
        let names = try await client.read { db in try db.fetchAll(String?.self, "SELECT name FROM items ORDER BY id") }
        try expect(names == ["x", "x", nil], "\(names)")
        let last = try await client.write { db in
            try db.execute("INSERT INTO items (id) VALUES (?)", [77])
            return db.lastInsertedRowID
        }
        try expect(last == 77, "\(last)")
    }

    private func serialWrites(_ client: SQLiteClient) async throws {
        try await client.write { db in
            try db.execute("INSERT INTO counters (id, value) VALUES (1, 0)")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await client.write { db in
                        let value = try db.fetchOne(Int.self, "SELECT value FROM counters") ?? 0
                        try db.execute("UPDATE counters SET value = ?", [value + 1])
                    }
                }
            }
            try await group.waitForAll()
        }
        let value = try await client.read { db in try db.fetchOne(Int.self, "SELECT value FROM counters") }
        try expect(value == 100, "100 increments made \(value ?? -1)")
    }
}

// MARK: Errors

extension ClientConformance {
    private func errors(_ client: SQLiteClient) async throws {
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

    private func counts(_ client: SQLiteClient) async throws {
        try await expectError(.sql) { try await client.read { db in try db.execute("SELECT ?, ?", [1]) } }
        try await expectError(.sql) { try await client.read { db in try db.execute("SELECT ?", [1, 2]) } }
        try await expectError(.sql) { try await client.read { db in try db.execute("SELECT ?") } }
    }

    private func notANumber(_ client: SQLiteClient) async throws {
        do {
            try await client.write { db in
                _ = try db.execute("INSERT INTO items (id, amount) VALUES (1, ?)", [Double.nan])
            }
            throw Failure(description: "NaN was stored, as NULL")
        } catch let error as StorageError {
            try expect(error.code == .invalidValue, "\(error)")
        }
    }

    private func expectError(_ code: SQLiteClientError.Code, _ body: () async throws -> Int) async throws {
        do {
            _ = try await body()
            throw Failure(description: "no error where \(code) was expected")
        } catch let error as SQLiteClientError {
            try expect(error.code == code, "\(error) where \(code) was expected")
            try expect(!error.message.isEmpty && !error.remedy.isEmpty, "\(error)")
        }
    }
}

// MARK: Size and concurrency

extension ClientConformance {
    private func fill(_ client: SQLiteClient, rows: Int) async throws {
        try await client.write { db in
            try db.execute(
                """
                INSERT INTO items (id, name)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                SELECT i, 'name ' || i FROM n
                """, [rows])
        }
    }

    private func largeResults(_ client: SQLiteClient) async throws {
        try await fill(client, rows: 100_000)
        let (sum, seen) = try await client.read { db in
            var (sum, seen) = (0, 0)
            try db.forEachRow("SELECT id, name FROM items") { row in
                sum += try row.value(Int.self, at: 0)
                return true
            }
            try db.forEachRow("SELECT id FROM items ORDER BY id") { row in
                seen = try row.value(Int.self, at: 0)
                return seen < 10
            }
            return (sum, seen)
        }
        try expect(sum == 100_000 * 100_001 / 2 && seen == 10, "\(sum), \(seen)")
    }

    private func concurrency(_ client: SQLiteClient) async throws {
        try await fill(client, rows: 1_000)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<64 {
                group.addTask {
                    for round in 0..<20 {
                        let id = (task * 31 + round * 17) % 1_000 + 1
                        if round % 5 == 4 {
                            try await client.write { db in
                                _ = try db.execute("UPDATE items SET amount = ? WHERE id = ?", [Double(round), id])
                            }
                        } else {
                            let name = try await client.read { db in
                                try db.fetchOne(String.self, "SELECT name FROM items WHERE id = ?", [id])
                            }
                            try expect(name == "name \(id)", "\(name ?? "nothing") for \(id)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    private func count(_ client: SQLiteClient) async throws -> Int {
        try await client.read { db in try db.fetchOne(Int.self, "SELECT count(*) FROM items") } ?? -1
    }
}

// MARK: Observation

extension ClientConformance {
    private func observation(_ client: SQLiteClient) async throws {
        let changes = try await client.observeTables(["USERS", "posts"])
        var reader = changes.makeAsyncIterator()
        try await client.write { db in try db.execute("INSERT INTO other (id) VALUES (1)") }
        try await client.write { db in try db.execute("INSERT INTO users (id, name) VALUES (1, 'a')") }
        try expect(try await reader.next() == ["USERS"], "the first commit that concerns it")
        try await client.write { db in
            try db.execute("INSERT INTO posts (id, user) VALUES (1, 1)")
            try db.execute("UPDATE users SET name = 'b'")
        }
        try expect(try await reader.next() == ["USERS", "posts"], "both tables of a commit")
        try await client.write { db in try db.execute("DELETE FROM posts WHERE id = 1") }
        try expect(try await reader.next() == ["posts"], "a delete")
    }

    private func undone(_ client: SQLiteClient) async throws {
        let changes = try await client.observeTables(["users", "posts", "other"])
        var reader = changes.makeAsyncIterator()
        _ = try? await client.write { db in
            try db.execute("INSERT INTO users (id, name) VALUES (1, 'a')")
            throw Stop()
        }
        try await client.write { db in
            try? db.savepoint {
                try db.execute("INSERT INTO posts (id, user) VALUES (1, 1)")
                throw Stop()
            }
            try db.execute("INSERT INTO other (id) VALUES (1)")
        }
        let first = try await reader.next()
        try expect(first == ["other"], "\(first ?? []) where only other was changed")
    }

    private func truncation(_ client: SQLiteClient) async throws {
        try await client.write { db in try db.execute("INSERT INTO users (id, name) VALUES (1, 'a'), (2, 'b')") }
        let changes = try await client.observeTables(["users"])
        var reader = changes.makeAsyncIterator()
        try await client.write { db in try db.execute("DELETE FROM users") }
        try expect(try await reader.next() == ["users"], "a DELETE without WHERE")
    }

    private func ending(_ client: SQLiteClient) async throws {
        let changes = try await client.observeTables(["users"])
        let reader = Task {
            for try await _ in changes {}
        }
        try await Task.sleep(for: .milliseconds(5))
        reader.cancel()
        try await reader.value
        let others = try await client.observeTables(["users"])
        others.cancel()
        for try await _ in others { throw Failure(description: "an element behind the end") }
        try await client.write { db in try db.execute("INSERT INTO users (id, name) VALUES (1, 'a')") }
    }

    private func slowReader(_ client: SQLiteClient) async throws {
        let changes = try await client.observeTables(["users", "posts", "other"])
        for id in 0..<50 {
            try await client.write { db in
                _ = try db.execute(
                    id % 2 == 0
                        ? "INSERT INTO users (id, name) VALUES (?, NULL)"
                        : "INSERT INTO posts (id, user) VALUES (?, 1)", [id])
            }
        }
        try await client.write { db in try db.execute("INSERT INTO other (id) VALUES (1)") }
        // Engines may report the last commits only now.
        try await Task.sleep(for: .milliseconds(100))
        var reader = changes.makeAsyncIterator()
        var (tables, elements): (Set<String>, Int) = ([], 0)
        while !tables.contains("other"), let changed = try await reader.next() {
            tables.formUnion(changed)
            elements += 1
        }
        try expect(tables == ["users", "posts", "other"], "all that was changed")
        try expect(elements < 50, "\(elements) elements for 51 commits")
        try await client.write { db in try db.execute("INSERT INTO users (id, name) VALUES (1000, NULL)") }
        try expect(try await reader.next() == ["users"], "and nothing of it again")
    }

    private func callbacks(_ client: SQLiteClient) async throws {
        let (calls, continuation) = AsyncStream.makeStream(of: Void.self)
        let observation = try await client.observeTables(["users", "posts"]) { continuation.yield() }
        try await client.write { db in try db.execute("INSERT INTO users (id, name) VALUES (1, 'a')") }
        var reader = calls.makeAsyncIterator()
        try expect(await reader.next() != nil, "the call")
        observation.cancel()
        observation.cancel()
    }
}

// MARK: Cancellation

extension ClientConformance {
    private func cancellation(_ client: SQLiteClient) async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await client.write { db in _ = try db.execute("INSERT INTO items (id) VALUES (1)") }
        }
        do {
            try await task.value
            throw Failure(description: "a cancelled task wrote")
        } catch is CancellationError {
        } catch let error as SQLiteClientError where error.code == .cancelled {}
        try expect(try await count(client) == 0, "a cancelled task left a row")
    }
}

// MARK: Bodies without a parameter

extension ClientConformance {
    private func asking(_ client: SQLiteClient) async throws {
        let inside = try await client.write {
            try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (1)") }
            @Dependency(\.sqliteClient) var same
            try await same.write { db in try db.execute("INSERT INTO items (id) VALUES (2)") }
            return try await client.read { db in try db.fetchOne(Int.self, "SELECT count(*) FROM items") }
        }
        try expect(inside == 2, "\(inside ?? -1) rows inside")
        try expect(try await count(client) == 2, "rows behind it")
        let read = try await client.read {
            do {
                try await client.write { db in try db.execute("DELETE FROM items") }
                throw Failure(description: "a write inside of a read")
            } catch let error as SQLiteClientError {
                try expect(error.code == .readOnly, "\(error)")
            }
            return try await client.read { db in try db.fetchOne(Int.self, "SELECT count(*) FROM items") }
        }
        try expect(read == 2, "\(read ?? -1)")
    }

    private func askingAndThrowing(_ client: SQLiteClient) async throws {
        do {
            try await client.write {
                try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (1)") }
                throw Stop()
            }
            throw Failure(description: "the body's error is lost")
        } catch is Stop {}
        try expect(try await count(client) == 0, "a body that threw left a row")
    }

    private func askingAndWaiting(_ client: SQLiteClient) async throws {
        async let slow: Void = client.write {
            try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (1)") }
            try await Task.sleep(for: .milliseconds(30))
            try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (2)") }
        }
        try await Task.sleep(for: .milliseconds(10))
        let during = try await count(client)
        try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (3)") }
        try await slow
        try expect(during == 0 || during == 2, "half of a transaction was seen: \(during)")
        try expect(try await count(client) == 3, "rows at the end")
    }
}

func expect(_ holds: Bool, _ message: @autoclosure () -> String) throws {
    if !holds { throw ClientConformance.Failure(description: message()) }
}
