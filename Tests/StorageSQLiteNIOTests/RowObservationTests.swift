#if SQLITE_ENGINE_SQLITENIO
    import TestSupport
    import StorageSQLiteClient
    import Testing

    @testable import StorageSQLiteNIO

    @Suite(.timeLimit(.minutes(10)))
    struct RowObservationTests {
        private struct Failure: Error {}
        private typealias Row = SQLiteRowUpdates.Row

        private func opened(_ folder: TemporaryFolder? = nil) async throws -> SQLiteConnection {
            let connection = try await SQLiteConnection.open(
                storage: folder.map { .file(path: $0.database) } ?? .memory,
                configuration: .init(journal: .writeAheadLog, observationInterval: .milliseconds(5)))
            try await connection.execute(
                """
                CREATE TABLE a (id INTEGER PRIMARY KEY, v UNIQUE); CREATE TABLE b (v);
                CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
                CREATE TABLE parents (id INTEGER PRIMARY KEY);
                CREATE TABLE children (id INTEGER PRIMARY KEY, p REFERENCES parents ON DELETE CASCADE);
                CREATE TABLE done (n)
                """)
            return connection
        }

        /// What is reported of the work, found out by a commit after it.
        private func changes(
            of tables: Set<String> = ["a", "b", "w", "parents", "children"], maximumRows: Int = 100,
            _ connection: SQLiteConnection, _ body: (SQLiteConnection) async throws -> Void
        ) async throws -> SQLiteRowUpdates {
            let stream = connection.observeRows(tables.union(["done"]), maximumRows: maximumRows)
            var updates = stream.makeAsyncIterator()
            try await body(connection)
            let changes = try #require(await ended(&updates, connection))
            return SQLiteRowUpdates(
                rows: changes.rows.filter { $0.table != "done" }, tables: changes.tables.subtracting(["done"]))
        }

        private func ended(
            _ updates: inout AsyncStream<SQLiteRowUpdates>.Iterator, _ connection: SQLiteConnection
        ) async throws -> SQLiteRowUpdates? {
            try await connection.execute("INSERT INTO done VALUES (1)")
            return await updates.next()
        }

        @Test("Changes are reported by row")
        func changedRows() async throws {
            let connection = try await opened()
            let changed = try await changes(connection) { connection in
                try await connection.execute("INSERT INTO a VALUES (1, 'x'), (2, 'y')")
                try await connection.execute("UPDATE a SET v = 'z' WHERE id = 2")
                try await connection.execute("UPDATE a SET id = 7 WHERE id = 2")
                try await connection.withTransaction { db in
                    try db.execute("INSERT INTO b VALUES (1)")
                    try db.execute("DELETE FROM a WHERE id = 1")
                }
            }
            #expect(
                changed.rows == [
                    Row(.insert, table: "a", rowID: 1), Row(.insert, table: "a", rowID: 2),
                    Row(.update, table: "a", rowID: 2), Row(.delete, table: "a", rowID: 2),
                    Row(.insert, table: "a", rowID: 7), Row(.insert, table: "b", rowID: 1),
                    Row(.delete, table: "a", rowID: 1),
                ])
            #expect(changed.tables == [])
            let of = try await changes(of: ["B"], connection) { connection in
                try await connection.execute("INSERT INTO a VALUES (3, 3); INSERT INTO b VALUES (3)")
            }
            #expect(of == SQLiteRowUpdates(rows: [Row(.insert, table: "B", rowID: 2)]))
        }

        /// Those that SQLite's update hook isn't called for, too.
        @Test("Rows that no statement names are reported")
        func indirectlyChangedRows() async throws {
            let connection = try await opened()
            try await connection.execute(
                """
                INSERT INTO a VALUES (1, 'x'), (2, 'y'); INSERT INTO parents VALUES (1); INSERT INTO children VALUES (5, 1);
                CREATE TRIGGER t AFTER INSERT ON b BEGIN UPDATE a SET v = v WHERE id = new.v; END
                """)
            // Compiled before anybody observes, when deleting all rows is one step.
            try await connection.execute("DELETE FROM b")
            let replaced = try await changes(connection) {
                try await $0.execute("INSERT OR REPLACE INTO a VALUES (3, 'x')")
            }
            #expect(Set(replaced.rows) == [Row(.delete, table: "a", rowID: 1), Row(.insert, table: "a", rowID: 3)])
            #expect(replaced.tables == [])
            let triggered = try await changes(connection) { try await $0.execute("INSERT INTO b VALUES (3)") }
            #expect(
                triggered
                    == SQLiteRowUpdates(rows: [Row(.insert, table: "b", rowID: 1), Row(.update, table: "a", rowID: 3)]))
            let cascaded = try await changes(connection) { try await $0.execute("DELETE FROM parents") }
            #expect(
                Set(cascaded.rows)
                    == [Row(.delete, table: "parents", rowID: 1), Row(.delete, table: "children", rowID: 5)])
            let emptied = try await changes(connection) { try await $0.execute("DELETE FROM b") }
            #expect(emptied == SQLiteRowUpdates(rows: [Row(.delete, table: "b", rowID: 1)]))
        }

        @Test("What is undone isn't reported")
        func undoneChanges() async throws {
            let connection = try await opened()
            let changed = try await changes(connection) { connection in
                try? await connection.transaction { connection in
                    try await connection.execute("INSERT INTO a VALUES (1, 1)")
                    throw Failure()
                }
                try await connection.transaction { connection in
                    try await connection.execute("INSERT INTO a VALUES (2, 2)")
                    try? await connection.transaction { connection in
                        try await connection.execute("INSERT INTO a VALUES (3, 3)")
                        throw Failure()
                    }
                    _ = try? await connection.execute("INSERT INTO a VALUES (4, 4), (5, 2)")
                    try await connection.execute("INSERT INTO a VALUES (6, 6)")
                }
            }
            #expect(
                changed
                    == SQLiteRowUpdates(rows: [Row(.insert, table: "a", rowID: 2), Row(.insert, table: "a", rowID: 6)]))
        }

        @Test("Where rows aren't known the table is reported")
        func unknownRows() async throws {
            let folder = try TemporaryFolder()
            let connection = try await opened(folder)
            let without = try await changes(connection) { connection in
                try await connection.execute("INSERT INTO w VALUES ('k', 1)")
                try await connection.execute("INSERT INTO a VALUES (1, 1)")
            }
            #expect(
                without == SQLiteRowUpdates(rows: [Row(.insert, table: "a", rowID: 1)], tables: ["w"]))
            // Some rows of a statement that fails stay.
            let failed = try await changes(connection) { connection in
                _ = try? await connection.execute("INSERT OR FAIL INTO a VALUES (2, 2), (3, 1)")
            }
            #expect(failed == SQLiteRowUpdates(tables: ["a"]))
            let many = try await changes(maximumRows: 3, connection) { connection in
                try await connection.execute("INSERT INTO a VALUES (11, 11), (12, 12), (13, 13), (14, 14)")
            }
            #expect(many == SQLiteRowUpdates(tables: ["a"]))
            let slow = try await changes(maximumRows: 3, connection) { connection in
                for id in 20..<25 { try await connection.execute("INSERT INTO a VALUES (?, ?)", [id, id]) }
            }
            #expect(slow.rows == [])
            #expect(slow.tables == ["a"])
            var updates = connection.observeRows(["a", "b"]).makeAsyncIterator()
            try sqlite(folder.database, "INSERT INTO a VALUES (100, 100)")
            #expect(await updates.next() == SQLiteRowUpdates(tables: ["a", "b"]))
        }

        /// The part of a transaction that came before is known by its tables only.
        @Test("An observation may begin in a transaction")
        func observingFromTransaction() async throws {
            let connection = try await opened()
            let stream = try await connection.transaction { inside in
                try await inside.execute("INSERT INTO a VALUES (1, 1)")
                let stream = connection.observeRows(["a", "b"])
                try await inside.execute("INSERT INTO b VALUES (1)")
                return stream
            }
            var updates = stream.makeAsyncIterator()
            #expect(
                await updates.next() == SQLiteRowUpdates(rows: [Row(.insert, table: "b", rowID: 1)], tables: ["a"]))
        }

        /// Nobody observes rows when the commit begins, and somebody again when it is reported.
        @Test("An observation may begin in a commit")
        func observingFromCommit() async throws {
            let observation = TableObservation()
            let database = Database(
                storage: .memory, configuration: SQLiteConnectionConfiguration(), observation: observation)
            try database.open()
            try database.execute("CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID", .none, policy: .owner)
            var observer = observation.makeObserver(["w"], maximumRows: 10)
            try database.execute("BEGIN; INSERT INTO w VALUES ('k', 1)", .none, policy: .owner)
            observer = nil
            #expect(observer == nil)
            #expect(observation.rowLimit == 0)
            try database.watchRows()
            let commit = try #require(try database.next(of: SQLScript("COMMIT"), .none))
            let run = try database.begin(commit, .none)
            observer = observation.makeObserver(["w"], maximumRows: 10)
            #expect(try !database.step(commit))
            database.end(run, hasSucceeded: true)
            let updates = await observer?.next(every: nil) {}
            #expect(updates == SQLiteRowUpdates(tables: ["w"]))
        }

        @Test("Observations end")
        func observationsEnd() async throws {
            let connection = try await opened()
            let reader = Task {
                var count = 0
                for await updates in connection.observeRows(["a"]) { count += updates.rows.count }
                return count
            }
            try await eventually { connection.engine.observation.rowLimit > 0 }
            try await connection.execute("INSERT INTO a VALUES (1, 1)")
            reader.cancel()
            #expect(await reader.value <= 1)
            // What is over costs nothing more.
            try await eventually { connection.engine.observation.rowLimit == 0 }
            try await connection.execute("INSERT INTO a VALUES (2, 2)")
            var updates = connection.observeRows(["a"]).makeAsyncIterator()
            try await connection.execute("INSERT INTO a VALUES (3, 3)")
            try await connection.close()
            #expect(await updates.next() == SQLiteRowUpdates(rows: [Row(.insert, table: "a", rowID: 3)]))
            #expect(await updates.next() == nil)
        }

        @Test("A pool reports its rows")
        func rowsOfPool() async throws {
            let folder = try TemporaryFolder()
            let pool = try await SQLiteConnectionPool.open(storage: .file(path: folder.database))
            try await pool.write { connection in _ = try await connection.execute("CREATE TABLE t (a)") }
            var updates = pool.observeRows(["t"]).makeAsyncIterator()
            try await pool.write { connection in _ = try await connection.execute("INSERT INTO t VALUES (1)") }
            let first = await updates.next()
            #expect(first?.rows == [Row(.insert, table: "t", rowID: 1)])
            try await pool.close()
        }
    }
#endif
