import Foundation
import StorageSQLiteClient
import TestSupport

// Size, observation and cancellation.

// MARK: Size

extension ClientConformance {
    func fill(_ client: SQLiteClient, rows: Int) async throws {
        try await client.write { db in
            try db.execute(
                """
                INSERT INTO items (id, name)
                WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
                SELECT i, 'name ' || i FROM n
                """, [rows])
        }
    }

    func largeResults(_ client: SQLiteClient) async throws {
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

    func concurrency(_ client: SQLiteClient) async throws {
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
                                try db.fetchOne("SELECT name FROM items WHERE id = ?", [id], as: String.self)
                            }
                            try expect(name == "name \(id)", "\(name ?? "nothing") for \(id)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
    }

    func count(_ client: SQLiteClient) async throws -> Int {
        try await client.read { db in try db.fetchOne("SELECT count(*) FROM items", as: Int.self) } ?? -1
    }
}

// MARK: Observation

extension ClientConformance {
    func observation(_ client: SQLiteClient) async throws {
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

    func undone(_ client: SQLiteClient) async throws {
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

    func truncation(_ client: SQLiteClient) async throws {
        try await client.write { db in try db.execute("INSERT INTO users (id, name) VALUES (1, 'a'), (2, 'b')") }
        let changes = try await client.observeTables(["users", "other"])
        var reader = changes.makeAsyncIterator()
        try await client.write { db in try db.execute("DELETE FROM users") }
        // So that an engine which doesn't see it has something to tell.
        try await client.write { db in try db.execute("INSERT INTO other (id) VALUES (1)") }
        let first = try await reader.next() ?? []
        try expect(first.contains("users"), "\(first) behind a DELETE without WHERE")
    }

    func ending(_ client: SQLiteClient) async throws {
        let changes = try await client.observeTables(["users"])
        let reader = Task {
            for try await _ in changes {}
        }
        // Time to wait.
        try await Task.sleep(for: .milliseconds(5))
        reader.cancel()
        try await reader.value
        let others = try await client.observeTables(["users"])
        others.cancel()
        for try await _ in others { throw Failure(description: "an element behind the end") }
        try await client.write { db in try db.execute("INSERT INTO users (id, name) VALUES (1, 'a')") }
    }

    func slowReader(_ client: SQLiteClient) async throws {
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

    func callbacks(_ client: SQLiteClient) async throws {
        let (running, overlaps) = (Counter(), Counter())
        let (posts, users) = (Counter(), Counter())
        let observation = try await client.observeTables(["posts"]) {
            if running.add() > 1 { overlaps.add() }
            // Long enough for calls to overlap.
            Thread.sleep(forTimeInterval: 0.002)
            posts.add()
            running.subtract()
        }
        let others = try await client.observeTables(["users"]) { users.add() }
        for id in 0..<20 {
            try await client.write { db in try db.execute("INSERT INTO posts (id, user) VALUES (?, 1)", [id]) }
        }
        try await client.write { db in try db.execute("INSERT INTO users (id, name) VALUES (1, 'a')") }
        try await until(users) { $0 > 0 }
        // Its commits came first.
        try await until(posts, within: Self.patience) { $0 > 0 }
        try expect(overlaps.value == 0, "\(overlaps.value) calls overlapped")
        observation.cancel()
        observation.cancel()
        // The call that was under way.
        try await until(running) { $0 == 0 }
        let (before, known) = (posts.value, users.value)
        try await client.write { db in
            try db.execute("INSERT INTO posts (id, user) VALUES (100, 1)")
            try db.execute("UPDATE users SET name = 'b'")
        }
        try await until(users) { $0 > known }
        try expect(posts.value == before, "a call behind the end")
        others.cancel()
    }

    private func until(
        _ counter: Counter, within limit: Duration = .seconds(60), _ holds: (Int) -> Bool
    ) async throws {
        let deadline = ContinuousClock.now + limit
        while !holds(counter.value) {
            try expect(ContinuousClock.now < deadline, "no call came")
            try await Task.sleep(for: .milliseconds(1))
        }
    }
}

// MARK: Cancellation

extension ClientConformance {
    func cancellation(_ client: SQLiteClient) async throws {
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await client.write { db in _ = try db.execute("INSERT INTO items (id) VALUES (1)") }
        }
        try await expectError(.cancelled) { try await cancelled.value }
        let asking = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await client.write { throw Failure(description: "the body of a cancelled task ran") }
        }
        try await expectError(.cancelled) { try await asking.value }
        // While it waits for its turn.
        let (isOpen, ends) = (Counter(), Counter())
        let holder = Task {
            try await client.write { _ in
                isOpen.add()
                Self.wait(for: ends)
            }
        }
        try await Self.arrive(at: isOpen)
        let waiting = Task { try await client.write { db in _ = try db.execute("INSERT INTO items (id) VALUES (2)") } }
        // Time to wait.
        try await Task.sleep(for: .milliseconds(5))
        waiting.cancel()
        ends.add()
        try await holder.value
        try await expectError(.cancelled) { try await waiting.value }
        try expect(try await count(client) == 0, "a cancelled task left a row")
    }

    func cancelledReading(_ client: SQLiteClient) async throws {
        let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
        let (isOpen, isCancelled) = (Counter(), Counter())
        let rows = Task {
            try await client.read { db in
                var late = 0
                try db.forEachRow("\(endless) SELECT i FROM n") { _ in
                    isOpen.add()
                    if isCancelled.value > 0 { late += 1 }
                    // Engines look now and then, not at each row.
                    try expect(late < 100_000, "a query goes on when its task is cancelled")
                    return true
                }
            }
        }
        try await Self.arrive(at: isOpen)
        rows.cancel()
        isCancelled.add()
        try await expectError(.cancelled) { try await rows.value }
        try expect(try await count(client) == 0, "the database behind it")
    }

    /// Also in a body without a parameter.
    func cancelledStep(_ client: SQLiteClient) async throws {
        // One step, and long enough that the cancellation comes in the middle; again until it does.
        let count =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500000) SELECT count(*) FROM n"
        for isAsking in [false, true] {
            // The cancellation may come between the end of a step and the look at it, but hardly twice.
            var late = try await lateSteps(client, count, isAsking: isAsking)
            if late > 0 { late = try await lateSteps(client, count, isAsking: isAsking) }
            try expect(late == 0, "a step goes on when its task is cancelled")
        }
    }

    /// - Returns: How many steps of a body ended with a row though its task was cancelled.
    private func lateSteps(_ client: SQLiteClient, _ sql: String, isAsking: Bool) async throws -> Int {
        let (isOpen, isCancelled, late) = (Counter(), Counter(), Counter())
        let body: @Sendable (SQLiteTransaction) throws -> Void = { db in
            isOpen.add()
            while isCancelled.value == 0 {
                try db.forEachRow(sql) { _ in
                    if isCancelled.value > 0 { late.add() }
                    return true
                }
            }
        }
        let counting = Task {
            guard isAsking else { return try await client.read(body) }
            try await client.read { try await client.read(body) }
        }
        try await Self.arrive(at: isOpen)
        counting.cancel()
        isCancelled.add()
        try await expectError(.cancelled) { try await counting.value }
        return late.value
    }

    /// Also where the body takes no notice.
    func cancelledWriting(_ client: SQLiteClient) async throws {
        let (isOpen, isCancelled) = (Counter(), Counter())
        let writing = Task {
            try await client.write { db in
                try db.execute("INSERT INTO items (id) VALUES (1)")
                isOpen.add()
                Self.wait(for: isCancelled)
            }
        }
        try await Self.arrive(at: isOpen)
        writing.cancel()
        isCancelled.add()
        try await expectError(.cancelled) { try await writing.value }
        try expect(try await count(client) == 0, "a cancelled body left a row")
        let asking = Task {
            try await client.write {
                try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (2)") }
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try? await client.write { db in try db.execute("INSERT INTO items (id) VALUES (3)") }
            }
        }
        try await expectError(.cancelled) { try await asking.value }
        let sleeping = Task {
            try await client.write {
                try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (4)") }
                withUnsafeCurrentTask { $0?.cancel() }
                try await Task.sleep(for: .seconds(60))
            }
        }
        try await expectError(.cancelled) { try await sleeping.value }
        try expect(try await count(client) == 0, "a cancelled body left a row")
        try await client.write { db in try db.execute("INSERT INTO items (id) VALUES (5)") }
        try expect(try await count(client) == 1, "a write behind it")
    }

    private static func arrive(at counter: Counter) async throws {
        let deadline = ContinuousClock.now + .seconds(60)
        while counter.value == 0 {
            try expect(ContinuousClock.now < deadline, "the body doesn't run")
            try await Task.sleep(for: .milliseconds(1))
        }
    }

    /// For bodies, which have a thread.
    private static func wait(for counter: Counter) {
        let deadline = ContinuousClock.now + .seconds(60)
        while counter.value == 0, ContinuousClock.now < deadline { Thread.sleep(forTimeInterval: 0.001) }
    }
}
