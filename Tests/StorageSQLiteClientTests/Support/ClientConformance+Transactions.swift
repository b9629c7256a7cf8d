import Foundation
import StorageSQLiteClient
import TestSupport

// Statements, transactions, and bodies inside of each other.

extension ClientConformance {
    struct Stop: Error {}

    func throwing(_ client: SQLiteClient) async throws {
        do {
            try await client.write { db in
                try db.execute("INSERT INTO items (id) VALUES (1)")
                throw Stop()
            }
            throw Failure(description: "the body's error is lost")
        } catch is Stop {}
        try expect(try await count(client) == 0, "a body that threw left a row")
    }

    func snapshots(_ client: SQLiteClient) async throws {
        try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (1)") }
        // How far both are: the reader has counted, the writer has committed.
        let (counted, committed) = (Counter(), Counter())
        let patience = Self.patienceForCommit
        async let reading = client.read { db in
            let before = try db.fetchOne("SELECT count(*) FROM items", as: Int.self)
            counted.add()
            // Where both have one connection, the writer waits for the reader.
            let deadline = ContinuousClock.now + patience
            while committed.value == 0, ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.001) }
            return (before, try db.fetchOne("SELECT count(*) FROM items", as: Int.self))
        }
        // An engine that fails never counts; then the error is thrown behind the write.
        let deadline = ContinuousClock.now + .seconds(60)
        while counted.value == 0, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(1)) }
        try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (2)") }
        committed.add()
        let (before, after) = try await reading
        try expect(before == after, "a reading body saw \(before ?? -1), then \(after ?? -1) rows")
    }

    func readOnly(_ client: SQLiteClient) async throws {
        do {
            try await client.read { db in _ = try db.execute("INSERT INTO items (id) VALUES (1)") }
            throw Failure(description: "a reading body could change the database")
        } catch let error as SQLiteClientError {
            try expect(error.code == .readOnly, "\(error)")
        }
        try expect(try await count(client) == 0, "a reading body left a row")
    }

    func savepoints(_ client: SQLiteClient) async throws {
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
        let ids = try await client.read { db in try db.fetchAll("SELECT id FROM items ORDER BY id", as: Int.self) }
        try expect(ids == [1, 3], "\(ids)")
    }

    func script(_ client: SQLiteClient) async throws {
        let changed = try await client.write { db in
            try db.execute(
                """
                INSERT INTO items (id) VALUES (1), (2), (3); -- three
                UPDATE items SET name = 'x' WHERE id < 3;
                """)
        }
        try expect(changed == 2, "the last statement changed \(changed) rows")
        let names = try await client.read { db in
            try db.fetchAll("SELECT name FROM items ORDER BY id", as: String?.self)
        }
        try expect(names == ["x", "x", nil], "\(names)")
        let last = try await client.write { db in
            try db.execute("INSERT INTO items (id) VALUES (?)", [77])
            return db.lastInsertedRowID
        }
        try expect(last == 77, "\(last)")
    }

    /// SQLite itself still counts the rows of an earlier statement.
    func oldCounts(_ client: SQLiteClient) async throws {
        let counts = try await client.write { db in
            try [
                "INSERT INTO items (id) VALUES (1), (2), (3)", "UPDATE items SET name = 'x' WHERE id > 3",
                "SELECT id FROM items", "CREATE TABLE more (a)",
                "INSERT INTO items (id) VALUES (4); SELECT id FROM items", "SELECT 1; DELETE FROM items WHERE id < 3",
            ].map { try db.execute($0) }
        }
        try expect(counts == [3, 0, 0, 0, 0, 2], "\(counts)")
        let bound = try await client.write { db in
            try db.execute("INSERT INTO other (id) VALUES (?)", [1])
            return try db.execute("UPDATE other SET id = 2 WHERE id = ?", [7])
        }
        try expect(bound == 0, "\(bound) rows changed of none")
    }

    /// A walk through a tree, whose levels are one query with different arguments.
    func recursion(_ client: SQLiteClient) async throws {
        try await client.write { db in
            try db.execute("INSERT INTO posts (id, user) VALUES (1, 0), (2, 1), (3, 1), (4, 2), (5, 2), (6, 3), (7, 0)")
        }
        let found = try await client.read { db in
            var found: [Int] = []
            try Self.walk(db, under: 0, &found)
            return found
        }
        try expect(found == [1, 2, 4, 5, 3, 6, 7], "\(found)")
    }

    private static func walk(_ db: SQLiteTransaction, under parent: Int, _ found: inout [Int]) throws {
        try db.forEachRow("SELECT id FROM posts WHERE user = ? ORDER BY id", [parent]) { row in
            let id = try row.value(Int.self, at: 0)
            found.append(id)
            try expect(found.count <= 7, "the rows begin again: \(found)")
            try walk(db, under: id, &found)
            return true
        }
    }

    func serialWrites(_ client: SQLiteClient) async throws {
        try await client.write { db in
            try db.execute("INSERT OR REPLACE INTO counters (id, value) VALUES (1, 0)")
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    try await client.write { db in
                        let value = try db.fetchOne("SELECT value FROM counters", as: Int.self) ?? 0
                        try db.execute("UPDATE counters SET value = ?", [value + 1])
                    }
                }
            }
            try await group.waitForAll()
        }
        let value = try await client.read { db in try db.fetchOne("SELECT value FROM counters", as: Int.self) }
        try expect(value == 100, "100 increments made \(value ?? -1)")
    }
}

// MARK: Bodies without a parameter

extension ClientConformance {
    func asking(_ client: SQLiteClient) async throws {
        let inside = try await client.write {
            try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (1)") }
            @Dependency(\.sqliteClient) var same
            try await same.write { db in try db.execute("INSERT INTO items (id) VALUES (2)") }
            return try await client.read { db in try db.fetchOne("SELECT count(*) FROM items", as: Int.self) }
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
            return try await client.read { db in try db.fetchOne("SELECT count(*) FROM items", as: Int.self) }
        }
        try expect(read == 2, "\(read ?? -1)")
    }

    func askingAndThrowing(_ client: SQLiteClient) async throws {
        do {
            try await client.write {
                try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (1)") }
                throw Stop()
            }
            throw Failure(description: "the body's error is lost")
        } catch is Stop {}
        try expect(try await count(client) == 0, "a body that threw left a row")
    }

    func askingAndWaiting(_ client: SQLiteClient) async throws {
        async let slow: Void = client.write {
            try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (1)") }
            // Long enough for the count to come in between.
            try await Task.sleep(for: .milliseconds(30))
            try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (2)") }
        }
        // Time for the other body to begin.
        try await Task.sleep(for: .milliseconds(10))
        let during = try await count(client)
        try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (3)") }
        try await slow
        try expect(during == 0 || during == 2, "half of a transaction was seen: \(during)")
        try expect(try await count(client) == 3, "rows at the end")
    }

    /// Both forms, whether or not the error leaves the body around.
    func nested(_ client: SQLiteClient) async throws {
        try await client.write {
            try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (1)") }
            do {
                try await client.write { db in
                    try db.execute("INSERT INTO items (id) VALUES (2)")
                    throw Stop()
                }
                throw Failure(description: "the error of a body inside is lost")
            } catch is Stop {}
            do {
                try await client.write {
                    try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (3)") }
                    try await client.write {
                        try await client.write { db in try db.execute("INSERT INTO posts (id) VALUES (1)") }
                    }
                    throw Stop()
                }
                throw Failure(description: "the error of a body inside is lost")
            } catch is Stop {}
            try await client.write {
                try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (4)") }
                _ = try? await client.write {
                    try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (5)") }
                    throw Stop()
                }
            }
        }
        try await expectItems([1, 4], client)
        let posts = try await client.read { db in try db.fetchOne("SELECT count(*) FROM posts", as: Int.self) }
        try expect(posts == 0, "a body inside of one that threw left a row")
    }

    /// What a body does isn't undone with another one that was open at the same time.
    func nestedAtOnce(_ client: SQLiteClient) async throws {
        try await client.write {
            let isOpen = Counter()
            let throwing = Task {
                try await client.write {
                    try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (1)") }
                    isOpen.add()
                    // Long enough for the others to come.
                    try await Task.sleep(for: .milliseconds(20))
                    try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (2)") }
                    throw Stop()
                }
            }
            try await eventually { isOpen.value > 0 }
            let whole = Task {
                try await client.write {
                    try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (3)") }
                }
            }
            try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (4)") }
            _ = try await whole.value
            do {
                try await throwing.value
                throw Failure(description: "the error of a body inside is lost")
            } catch is Stop {}
        }
        try await expectItems([3, 4], client)
    }

    private func expectItems(_ ids: [Int], _ client: SQLiteClient) async throws {
        let found = try await client.read { db in try db.fetchAll("SELECT id FROM items ORDER BY id", as: Int.self) }
        try expect(found == ids, "\(found) where \(ids) was expected")
    }
}
