#if SQLITE_ENGINE_SQLITENIO
    import Foundation
    import StorageSQLiteNIO
    import Testing

    // The examples of the SwiftNIO engine in the guide to SQLite clients.

    struct NIOExamples {
        struct User: Codable, Sendable {
            var name: String
        }

        @Test("The examples run")
        func examplesRun() async throws {
            let path = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite").path
            defer { for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: path + end) } }
            let pool = try await SQLiteConnectionPool.open(storage: .file(path: path))
            try await pool.write { connection in _ = try await connection.execute("CREATE TABLE users (name TEXT)") }
            try await pool.write { connection in
                try await connection.execute("INSERT INTO users (name) VALUES (?)", ["Anna"])
            }
            let users = try await pool.read { connection in
                try await connection.query("SELECT * FROM users", as: User.self)
            }
            let client = SQLiteClient.nio(pool)
            #expect(users.map(\.name) == ["Anna"])
            #expect(try await client.read { db in try db.fetchOne("SELECT count(*) FROM users", as: Int.self) } == 1)
            try await pool.close()
        }
    }
#endif
