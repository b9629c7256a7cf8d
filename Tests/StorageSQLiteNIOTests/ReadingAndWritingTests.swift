#if SQLITE_ENGINE_SQLITENIO
    import Foundation
    import TestSupport
    import StorageCore
    import StorageSQLiteClient
    import StorageSQLiteNIO
    import Testing

    struct ReadingAndWritingTests {
        private func opened(_ sql: String = "CREATE TABLE t (id INTEGER PRIMARY KEY, v)") async throws
            -> SQLiteConnection
        {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.execute(sql)
            return connection
        }

        @Test("The first lines of the guide work")
        func guideExample() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
            #expect(try await connection.execute("INSERT INTO users (name) VALUES (?), (?)", ["Ada", "Bob"]) == 2)
            #expect(try await connection.lastInsertedRowID == 2)
            let rows = try await connection.query("SELECT id, name FROM users ORDER BY id")
            #expect(rows.map { $0["name"] } == [.text("Ada"), .text("Bob")])
            #expect(try rows[1].value(Int64.self, "ID".lowercased()) == 2)
            #expect(rows[0].columns == ["id", "name"])
            #expect(rows[0].layout === rows[1].layout)
            #expect(try await connection.query("SELECT name FROM users", as: String.self) == ["Ada", "Bob"])
            try await connection.close()
        }

        @Test(
            "Storage values round-trip",
            arguments: [
                StorageValue.null, .integer(.max), .integer(.min), .integer(0), .real(1.5), .real(-0.0),
                .real(.infinity),
                .real(.leastNonzeroMagnitude), .text(""), .text("👩‍👩‍👧‍👦 e\u{301}"), .text("a\0b"), .blob(Data()),
                .blob(Data([0, 1, 255])),
            ])
        func storageValues(_ value: StorageValue) async throws {
            let connection = try await opened()
            try await connection.withTransaction { db in
                try db.connection.run("INSERT INTO t (v) VALUES (?)", [value]) { _ in true }
            }
            #expect(try await connection.query("SELECT v FROM t")[0][0] == value)
        }

        @Test("Swift values round-trip")
        func swiftValues() async throws {
            let connection = try await opened("CREATE TABLE t (d, u, i, s, b, n, f)")
            let date = Date(timeIntervalSinceReferenceDate: 790_000_000.125)
            let uuid = UUID()
            let none: String? = nil
            try await connection.execute(
                "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?)", [date, uuid, UInt8.max, "é", true, none, Float(0.5)])
            let row = try await connection.query("SELECT * FROM t")[0]
            #expect(try row.value(Date.self, "d") == date)
            #expect(try row.value(UUID.self, "u") == uuid)
            #expect(try row.value(UInt8.self, "i") == .max)
            #expect(try row.value(String.self, at: 3) == "é")
            #expect(try row.value(Bool.self, "b"))
            #expect(try row.value(String?.self, "n") == nil)
            #expect(try row.value(Float.self, "f") == 0.5)
            #expect(row["missing"] == nil)
            await expect(.column) { try row.value(Int.self, "missing") }
            #expect(throws: StorageError.self) { try row.value(Int.self, "s") }
        }

        private struct User: Decodable, Equatable, Sendable {
            var id: Int
            var name: String
            var nick: String?
            var tags: [String]
        }

        @Test("Rows are decoded by the names of their columns")
        func decodingByColumnNames() async throws {
            let connection = try await opened("CREATE TABLE u (id INTEGER PRIMARY KEY, name, nick, tags)")
            try await connection.execute("INSERT INTO u VALUES (1, 'Ada', NULL, '[\"a\",\"b\"]')")
            let users = try await connection.query("SELECT * FROM u", as: User.self)
            #expect(users == [User(id: 1, name: "Ada", nick: nil, tags: ["a", "b"])])
            await #expect(throws: DecodingError.self) {
                try await connection.query("SELECT id, NULL AS name, tags FROM u", as: User.self)
            }
        }

        @Test("NaN is refused and affects no other statement")
        func notANumber() async throws {
            let connection = try await opened()
            for _ in 0..<20 {
                await #expect(throws: StorageError.self) {
                    try await connection.execute("INSERT INTO t (v) VALUES (?)", [Double.nan])
                }
                try await connection.execute("INSERT INTO t (v) VALUES (?)", [1])
            }
            #expect(try await connection.query("SELECT count(*) FROM t WHERE v = 1", as: Int.self) == [20])
        }

        @Test("A violated constraint has an error of its own")
        func constraintErrors() async throws {
            let connection = try await opened("CREATE TABLE t (id INTEGER PRIMARY KEY, v NOT NULL)")
            try await connection.execute("INSERT INTO t VALUES (1, 2)")
            await expect(.constraint) { try await connection.execute("INSERT INTO t VALUES (1, 3)") }
            await expect(.constraint) { try await connection.execute("INSERT INTO t VALUES (2, NULL)") }
            do { try await connection.execute("INSERT INTO t VALUES (1, 3)") } catch let error as SQLiteClientError {
                // SQLITE_CONSTRAINT_PRIMARYKEY
                #expect(error.resultCode == 1_555)
            }
        }

        @Test("Foreign keys are enforced unless turned off")
        func foreignKeys() async throws {
            let sql = "CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a REFERENCES a)"
            let connection = try await opened(sql)
            await expect(.constraint) { try await connection.execute("INSERT INTO b VALUES (1)") }
            var configuration = SQLiteConnectionConfiguration()
            configuration.enforcesForeignKeys = false
            let lenient = try await SQLiteConnection.open(storage: .memory, configuration: configuration)
            try await lenient.execute(sql)
            #expect(try await lenient.execute("INSERT INTO b VALUES (1)") == 1)
        }

        @Test("Text that isn't SQL is refused")
        func invalidSQL() async throws {
            let connection = try await opened()
            await expect(.sql) { try await connection.execute("SELEKT 1") }
            await expect(.sql) { try await connection.query("SELECT * FROM missing") }
            await expect(.sql) { try await connection.execute("SELECT 1\0; DROP TABLE t") }
            await expect(.sql) { try await connection.execute("-- nothing", [1]) }
            try await connection.execute("")
            try await connection.execute("-- nothing")
        }

        @Test("There are as many arguments as placeholders")
        func argumentCount() async throws {
            let connection = try await opened()
            await expect(.sql) { try await connection.execute("INSERT INTO t (v) VALUES (?)") }
            await expect(.sql) { try await connection.execute("INSERT INTO t (v) VALUES (?)", [1, 2]) }
            await expect(.sql) { try await connection.execute("INSERT INTO t (v) VALUES (1)", [1]) }
            await expect(.sql) { try await connection.execute("SELECT ?; SELECT ?", [1]) }
            #expect(try await connection.query("SELECT count(*) FROM t", as: Int.self) == [0])
        }

        @Test("Several statements run one after another")
        func severalStatements() async throws {
            let connection = try await opened()
            let sql = """
                INSERT INTO t VALUES (1, 'a;b'); /* one; */ -- two;
                UPDATE t SET v = 'c'; ; SELECT 1;
                """
            try await connection.execute(sql)
            #expect(
                try await connection.query("SELECT v FROM t; SELECT id FROM t; -- end").map { $0[0] } == [.integer(1)])
            #expect(try await connection.query("SELECT v FROM t; DELETE FROM t").isEmpty)
            #expect(try await connection.query("SELECT ? /* c; */ ; -- one", [1], as: Int.self) == [1])
            // What ran before the error stays: each statement is a transaction of its own.
            await expect(.sql) { try await connection.execute("INSERT INTO t VALUES (7, 7); SELEKT") }
            #expect(try await connection.query("SELECT id FROM t", as: Int.self) == [7])
        }

        @Test("Changed rows are those of the last statement")
        func changedRowCount() async throws {
            let connection = try await opened()
            #expect(try await connection.execute("INSERT INTO t (v) VALUES (1), (2), (3)") == 3)
            #expect(try await connection.execute("UPDATE t SET v = 0 WHERE id > 1") == 2)
            #expect(try await connection.execute("CREATE TABLE other (a)") == 0)
            #expect(try await connection.execute("SELECT * FROM t") == 0)
            #expect(try await connection.execute("DELETE FROM t") == 3)
            #expect(try await connection.execute("DELETE FROM t") == 0)
        }

        @Test("Columns follow the schema")
        func columnsFollowSchema() async throws {
            let connection = try await opened()
            try await connection.execute("INSERT INTO t VALUES (1, 2)")
            #expect(try await connection.query("SELECT * FROM t")[0].columns == ["id", "v"])
            try await connection.execute("ALTER TABLE t ADD COLUMN w DEFAULT 3; ALTER TABLE t RENAME COLUMN v TO x")
            let row = try await connection.query("SELECT * FROM t")[0]
            #expect(row.columns == ["id", "x", "w"])
            #expect(row["w"] == .integer(3))
        }

        @Test("Paths are taken literally")
        func literalPaths() async throws {
            let folder = try TemporaryFolder()
            await expect(.invalidArgument) { try await SQLiteConnection.open(storage: .file(path: "")) }
            await expect(.invalidArgument) { try await SQLiteConnection.open(storage: .file(path: "a\0b")) }
            await expect(.ioError) {
                try await SQLiteConnection.open(storage: .file(path: folder.url.path + "/missing/a.sqlite"))
            }
            try Data("this is no database, only some text".utf8).write(to: URL(fileURLWithPath: folder.database))
            await expect(.corrupt) { try await SQLiteConnection.open(storage: .file(path: folder.database)) }
            let strange = folder.url.path + "/file:a?mode=memory#%41"
            let connection = try await SQLiteConnection.open(storage: .file(path: strange))
            try await connection.execute("CREATE TABLE t (a)")
            try await connection.close()
            #expect(FileManager.default.fileExists(atPath: strange))
        }

        @Test("A connection for reading changes nothing")
        func readOnlyConnection() async throws {
            let folder = try TemporaryFolder()
            try sqlite(folder.database, "CREATE TABLE t (a); INSERT INTO t VALUES (1)")
            var configuration = SQLiteConnectionConfiguration()
            configuration.isReadOnly = true
            let connection = try await SQLiteConnection.open(
                storage: .file(path: folder.database), configuration: configuration)
            #expect(try await connection.query("SELECT a FROM t", as: Int.self) == [1])
            await expect(.readOnly) { try await connection.execute("INSERT INTO t VALUES (2)") }
            await expect(.readOnly) { try await connection.transaction { _ in } }
            await expect(.ioError) {
                try await SQLiteConnection.open(
                    storage: .file(path: folder.url.path + "/missing"), configuration: configuration)
            }
        }

        @Test("Settings are those of the configuration")
        func settings() async throws {
            let folder = try TemporaryFolder()
            var configuration = SQLiteConnectionConfiguration()
            configuration.journal = .writeAheadLog
            configuration.synchronous = .normal
            let connection = try await SQLiteConnection.open(
                storage: .file(path: folder.database), configuration: configuration)
            #expect(try await connection.query("PRAGMA journal_mode", as: String.self) == ["wal"])
            #expect(try await connection.query("PRAGMA synchronous", as: Int.self) == [1])
            #expect(try await connection.query("PRAGMA foreign_keys", as: Int.self) == [1])
        }
    }
#endif
