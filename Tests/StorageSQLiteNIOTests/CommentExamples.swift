#if SQLITE_ENGINE_SQLITENIO
    import StorageSQLiteClient
    import StorageSQLiteNIO

    /// The examples of the module's comments, compiled and not run. `DocumentationTests` compares them with this file.
    enum CommentExamples {
        static func tour() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.execute("CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
            try await connection.execute("INSERT INTO users (name) VALUES (?)", ["Ada"])
            let names = try await connection.query("SELECT name FROM users").map { try $0.value(String.self, "name") }
            try await connection.close()
            print(names)
        }

        static func pool() async throws {
            let pool = try await SQLiteConnectionPool.open(storage: .file(path: "app.sqlite"))
            try await pool.write { db in try db.execute("INSERT INTO users (name) VALUES (?)", ["Ada"]) }
            let rows = try await pool.read { connection in try await connection.query("SELECT * FROM users") }
            try await pool.close()
            print(rows)
        }

        static func storage() async throws {
            let connection = try await SQLiteConnection.open(storage: .file(path: "app.sqlite"))
            try await connection.close()
        }

        static func dependency(path: String) async throws {
            let connection = try await SQLiteConnection.open(storage: .file(path: path))
            prepareDependencies { $0.defaultSQLiteConnection = connection }
        }

        static func configuration(path: String) async throws {
            var configuration = SQLiteConnectionConfiguration()
            configuration.busyTimeout = .seconds(10)
            let connection = try await SQLiteConnection.open(storage: .file(path: path), configuration: configuration)
            try await connection.close()
        }

        static func statements(on connection: SQLiteConnection) async throws {
            let count = try await connection.execute("UPDATE users SET name = ? WHERE id = ?", ["Ada", 1])
            print(count)
            for row in try await connection.query("SELECT id, name FROM users") {
                print(try row.value(Int64.self, "id"), row["name"] ?? .null)
            }
            for try await row in connection.rows("SELECT id, name FROM users") {
                print(try row.value(Int64.self, "id"))
            }
        }

        static func transactions(on connection: SQLiteConnection) async throws {
            try await connection.transaction { connection in
                let id = try await connection.query("SELECT max(id) FROM users", as: Int64?.self)
                try await connection.execute("INSERT INTO log (user) VALUES (?)", [id[0]])
            }
            try await connection.transaction(.read) { connection in
                try await connection.query("SELECT * FROM users")
            }
        }

        static func observation(of connection: SQLiteConnection) async {
            for await updates in connection.observeRows(["users"]) {
                for row in updates.rows { print(row.kind, row.table, row.rowID) }
            }
        }
    }
#endif
