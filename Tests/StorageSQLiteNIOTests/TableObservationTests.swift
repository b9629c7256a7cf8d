#if SQLITE_ENGINE_SQLITENIO
    import Foundation
    import TestSupport
    import StorageSQLiteClient
    import Synchronization
    import Testing

    @testable import StorageSQLiteNIO

    @Suite(.timeLimit(.minutes(10)))
    struct TableObservationTests {
        private struct Failure: Error {}

        private func opened(_ folder: TemporaryFolder? = nil) async throws -> SQLiteConnection {
            let connection = try await SQLiteConnection.open(
                storage: folder.map { .file(path: $0.database) } ?? .memory,
                configuration: .init(journal: .writeAheadLog, observationInterval: .milliseconds(5)))
            try await connection.execute(
                """
                CREATE TABLE a (id INTEGER PRIMARY KEY, v UNIQUE); CREATE TABLE b (v); CREATE TABLE done (n);
                CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID
                """)
            return connection
        }

        /// What is reported of the work, found out by a commit after it.
        private func changes(
            of tables: Set<String> = ["a", "b", "w", "done"], _ connection: SQLiteConnection,
            _ body: (SQLiteConnection) async throws -> Void
        ) async throws -> Set<String> {
            var changes = connection.observeTables(tables).makeAsyncIterator()
            try await body(connection)
            try await connection.execute("INSERT INTO done VALUES (1)")
            var all: Set<String> = []
            while !all.contains("done"), let tables = await changes.next() { all.formUnion(tables) }
            return all.subtracting(["done"])
        }

        @Test("Commits are reported by table")
        func changedTables() async throws {
            let connection = try await opened()
            #expect(try await changes(connection) { try await $0.execute("INSERT INTO a VALUES (1, 1)") } == ["a"])
            #expect(try await changes(connection) { try await $0.execute("UPDATE a SET v = 2") } == ["a"])
            #expect(try await changes(connection) { try await $0.execute("UPDATE a SET v = 3 WHERE id = 9") } == [])
            #expect(try await changes(connection) { _ = try await $0.query("SELECT * FROM a, b") } == [])
            let both = try await changes(connection) {
                try await $0.transaction { connection in
                    try await connection.execute("INSERT INTO a VALUES (2, 5)")
                    try await connection.execute("INSERT INTO b VALUES (5)")
                }
            }
            #expect(both == ["a", "b"])
            let inJob = try await changes(connection) {
                _ = try await $0.withTransaction { db in try db.execute("DELETE FROM b WHERE v = 5") }
            }
            #expect(inJob == ["b"])
        }

        @Test("Nothing is reported before the commit")
        func silenceBeforeCommit() async throws {
            let connection = try await opened()
            let reported = Shared(false)
            let stream = connection.observeTables(["a"])
            let observer = Task {
                for await _ in stream {
                    reported.update { $0 = true }
                    break
                }
            }
            try await connection.transaction { connection in
                try await connection.execute("INSERT INTO a VALUES (1, 1)")
                // Time for a report that must not come.
                try await Task.sleep(for: .milliseconds(30))
                #expect(!reported.value)
            }
            await observer.value
            #expect(reported.value)
        }

        @Test("What is rolled back isn't reported")
        func rolledBackChanges() async throws {
            let connection = try await opened()
            let rolledBack = try await changes(connection) { connection in
                try? await connection.transaction { connection in
                    try await connection.execute("INSERT INTO a VALUES (1, 1)")
                    throw Failure()
                }
                try? await connection.withTransaction { db in
                    try db.execute("INSERT INTO b VALUES (1)")
                    throw Failure()
                }
                _ = try? await connection.execute("BEGIN; INSERT INTO w VALUES ('a', 1); ROLLBACK")
                _ = try? await connection.execute("BEGIN; INSERT INTO w VALUES ('a', 1)")
            }
            #expect(rolledBack == [])
            let failed = try await changes(connection) { connection in
                try await connection.execute("INSERT INTO a VALUES (1, 1)")
                _ = try? await connection.transaction { connection in
                    try await connection.execute("INSERT INTO b VALUES (1)")
                    try await connection.execute("INSERT OR ROLLBACK INTO a VALUES (1, 1)")
                }
            }
            #expect(failed == ["a"])
        }

        @Test("Savepoints that are rolled back aren't reported")
        func rolledBackSavepoints() async throws {
            let connection = try await opened()
            let changed = try await changes(connection) { connection in
                try await connection.transaction { connection in
                    try await connection.execute("INSERT INTO a VALUES (1, 1)")
                    try? await connection.transaction { connection in
                        try await connection.execute("INSERT INTO b VALUES (1)")
                        try await connection.transaction { try await $0.execute("INSERT INTO w VALUES ('a', 1)") }
                        throw Failure()
                    }
                }
            }
            #expect(changed == ["a"])
            let kept = try await changes(connection) { connection in
                try await connection.withTransaction { db in
                    _ = try db.savepoint { try db.execute("INSERT INTO b VALUES (1)") }
                    try db.execute("SAVEPOINT X; INSERT INTO w VALUES ('b', 1); ROLLBACK TO x; RELEASE x")
                }
            }
            #expect(kept == ["b"])
            // A savepoint outside of a transaction is one.
            let alone = try await changes(connection) {
                try await $0.execute("SAVEPOINT s; INSERT INTO b VALUES (2); RELEASE s")
            }
            #expect(alone == ["b"])
        }

        @Test("What the update hook misses is reported")
        func changesWithoutUpdateHook() async throws {
            let connection = try await opened()
            try await connection.execute("INSERT INTO a VALUES (1, 1), (2, 2); INSERT INTO w VALUES ('a', 1)")
            #expect(try await changes(connection) { try await $0.execute("DELETE FROM a") } == ["a"])
            #expect(try await changes(connection) { try await $0.execute("DELETE FROM a") } == [])
            #expect(try await changes(connection) { try await $0.execute("UPDATE w SET v = 2") } == ["w"])
            #expect(try await changes(connection) { try await $0.execute("DELETE FROM w") } == ["w"])
            #expect(try await changes(connection) { try await $0.execute("REPLACE INTO a VALUES (1, 1)") } == ["a"])
            #expect(try await changes(connection) { try await $0.execute("DROP TABLE b") } == ["b"])
            #expect(try await changes(connection) { try await $0.execute("ALTER TABLE a ADD COLUMN x") } == ["a"])
            #expect(try await changes(connection) { try await $0.execute("CREATE TABLE b AS SELECT 1") } == ["b"])
        }

        @Test("Triggers, foreign keys and virtual tables are reported")
        func indirectChanges() async throws {
            let connection = try await opened()
            try await connection.execute(
                """
                CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO b VALUES (new.v); END;
                CREATE TABLE child (a REFERENCES a ON DELETE CASCADE);
                CREATE VIRTUAL TABLE text USING fts5(body);
                CREATE VIEW v AS SELECT * FROM b;
                CREATE TRIGGER i INSTEAD OF INSERT ON v BEGIN INSERT INTO w VALUES ('v', new.v); END
                """)
            let both = try await changes(connection) { try await $0.execute("INSERT INTO a VALUES (1, 1)") }
            #expect(both == ["a", "b"])
            try await connection.execute("INSERT INTO child VALUES (1)")
            let cascade = try await changes(of: ["a", "child", "done"], connection) {
                try await $0.execute("DELETE FROM a")
            }
            #expect(cascade == ["a", "child"])
            let text = try await changes(of: ["text", "a", "done"], connection) {
                try await $0.execute("INSERT INTO text VALUES ('hello')")
            }
            #expect(text == ["text"])
            #expect(try await changes(connection) { try await $0.execute("INSERT INTO v VALUES (1)") } == ["w"])
        }

        @Test("Streamed changes are reported")
        func streamedChanges() async throws {
            let connection = try await opened()
            let reported = try await changes(connection) { connection in
                for try await _ in connection.rows("INSERT INTO b VALUES (1), (2) RETURNING v") { break }
                // The turn is back only after the statement is reset.
                try await connection.execute("SELECT 1")
            }
            #expect(reported == ["b"])
            #expect(try await connection.query("SELECT v FROM b", as: Int.self) == [1, 2])
        }

        @Test("Names are reported as they were given")
        func namesAsGiven() async throws {
            let connection = try await opened()
            let reported = try await changes(of: ["A", "a", "done"], connection) {
                try await $0.execute("INSERT INTO \"a\" VALUES (1, 1)")
            }
            #expect(reported == ["A", "a"])
        }

        @Test("A slow observer is notified once")
        func slowObserver() async throws {
            let connection = try await opened()
            var changes = connection.observeTables(["a", "b", "done"]).makeAsyncIterator()
            for number in 0..<500 { try await connection.execute("INSERT INTO a VALUES (?, ?)", [number, number]) }
            try await connection.execute("INSERT INTO b VALUES (1)")
            #expect(await changes.next() == ["a", "b"])
            try await connection.execute("INSERT INTO done VALUES (1)")
            #expect(await changes.next() == ["done"])
        }

        @Test("Other connections are noticed")
        func otherConnections() async throws {
            let folder = try TemporaryFolder()
            let connection = try await opened(folder)
            let stream = connection.observeTables(["a", "B"])
            let first = Task { await stream.first { _ in true } }
            // Time to begin; a change before that is reported as well.
            try await Task.sleep(for: .milliseconds(20))
            try sqlite(folder.database, "INSERT INTO a VALUES (1, 1)")
            #expect(await first.value == ["a", "B"])
            // Also what comes while nobody waits for it.
            var changes = connection.observeTables(["b"]).makeAsyncIterator()
            try sqlite(folder.database, "INSERT INTO b VALUES (1)")
            #expect(await changes.next() == ["b"])
        }

        @Test("Own commits don't count as those of others")
        func ownCommitsAreNotForeign() async throws {
            let folder = try TemporaryFolder()
            let pool = try await SQLiteConnectionPool.open(
                storage: .file(path: folder.database), configuration: .init(observationInterval: .milliseconds(2)))
            try await pool.write { db in try db.execute("CREATE TABLE a (v); CREATE TABLE b (v)") }
            let reported = Shared<[Set<String>]>([])
            let stream = pool.observeTables(["a", "b"])
            let observer = Task { for await tables in stream { reported.update { $0.append(tables) } } }
            for _ in 0..<20 {
                try await pool.write { db in try db.execute("INSERT INTO a VALUES (1)") }
                _ = try await pool.read { db in try db.fetchAll("SELECT v FROM a", as: Int.self) }
                // Longer than the observation rests between two looks.
                try await Task.sleep(for: .milliseconds(3))
            }
            try await pool.close()
            await observer.value
            #expect(Set(reported.value) == [["a"]])
        }

        @Test("An observer that is released is forgotten")
        func releasedObserver() async throws {
            let connection = try await opened()
            do {
                let stream = connection.observeTables(["a"])
                #expect(connection.engine.observation.observerCount == 1)
                let task = Task { for await _ in stream {} }
                task.cancel()
                await task.value
            }
            try await eventually { connection.engine.observation.observerCount == 0 }
        }

        @Test("A look doesn't wait for a body that waits for it")
        func lookDuringBody() async throws {
            let folder = try TemporaryFolder()
            let connection = try await opened(folder)
            let stream = connection.observeTables(["a"])
            try await connection.transaction { inside in
                try await inside.execute("INSERT INTO a VALUES (1, 1)")
                let task = Task { await stream.first { _ in true } }
                // Time for the look to begin.
                try await Task.sleep(for: .milliseconds(30))
                task.cancel()
                #expect(await task.value == nil)
            }
        }

        @Test("Closing ends the observation")
        func closingEndsObservation() async throws {
            let connection = try await opened()
            let stream = connection.observeTables(["a"])
            let observer = Task { await stream.reduce(into: []) { $0.append($1) } }
            // Time for the observer to begin.
            try await Task.sleep(for: .milliseconds(10))
            try await connection.execute("INSERT INTO a VALUES (1, 1)")
            try await connection.close()
            #expect(await observer.value == [["a"]])
        }
    }
#endif
