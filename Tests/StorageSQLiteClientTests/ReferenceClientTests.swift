#if SQLITE_ENGINE_GRDB
    import Foundation
    import GRDB
    import TestSupport
    import StorageSQLiteClient
    import Testing

    /// The declarations and examples of the reference, as its users would write them.
    struct ReferenceClientTests {
        struct Note: Codable, FetchableRecord, PersistableRecord, Hashable {
            var id: Int64
            var text: String
        }

        private func withDatabase(_ body: () async throws -> Void) async throws {
            let queue = try DatabaseQueue()
            try await queue.write { db in
                try db.create(table: "note") { table in
                    table.primaryKey("id", .integer)
                    table.column("text", .text).notNull()
                }
            }
            try await withDependencies {
                $0.defaultDatabase = queue
            } operation: {
                try await body()
            }
        }

        @Test("The database is a dependency")
        func databaseDependency() async throws {
            try await withDatabase {
                @Dependency(\.defaultDatabase) var database
                try await database.write { db in try Note(id: 1, text: "a").insert(db) }
                let notes = try await database.read { db in try Note.fetchAll(db) }
                #expect(notes == [Note(id: 1, text: "a")])
            }
        }

        @Test("Bodies find the database themselves")
        func bodiesFindDatabase() async throws {
            try await withDatabase {
                @Dependency(\.sqliteClient) var client
                try await client.write {
                    @Dependency(\.defaultDatabase) var database
                    try await database.write { db in try Note(id: 1, text: "a").insert(db) }
                    try await database.write { db in try Note(id: 2, text: "b").insert(db) }
                }
                let notes = try await client.read {
                    @Dependency(\.defaultDatabase) var database
                    return try await database.read { db in try Note.order(Column("id")).fetchAll(db) }
                }
                #expect(notes.map(\.text) == ["a", "b"])
            }
        }

        /// What was made where a database was given works on that database, wherever it is used.
        @Test("What is created with a database keeps it")
        func modelKeepsDatabase() async throws {
            struct Model: Sendable {
                @FetchAll("SELECT text FROM note ORDER BY id") var texts: [String]
                @Dependency(\.sqliteClient) var client
            }
            let queue = try DatabaseQueue()
            try await queue.write { db in try db.execute(sql: "CREATE TABLE note (id INTEGER PRIMARY KEY, text TEXT)") }
            let model = withDependencies {
                $0.defaultDatabase = queue
            } operation: {
                Model()
            }
            try await model.client.write { db in _ = try db.execute("INSERT INTO note (text) VALUES ('a')") }
            try await model.$texts.load()
            #expect(model.texts == ["a"])
            // A client comes before a database, and a nearer database before one farther away.
            let other = try DatabaseQueue()
            try await withDependencies {
                $0.defaultDatabase = other
            } operation: {
                @Dependency(\.sqliteClient) var client
                try await client.write { db in _ = try db.execute("CREATE TABLE other (id)") }
                try await withDependencies {
                    $0.sqliteClient = .grdb(queue)
                } operation: {
                    let count = try await client.read { db in
                        try db.fetchOne("SELECT count(*) FROM note", as: Int.self)
                    }
                    #expect(count == 1)
                }
            }
            #expect(try await other.read { db in try db.tableExists("other") })
        }

        /// In a preview of Xcode there is a database without a word.
        @Test("Previews have a database of their own")
        func previewDatabase() async throws {
            try await withDependencies {
                $0.context = .preview
            } operation: {
                @Dependency(\.sqliteClient) var client
                try await client.write { db in _ = try db.execute("CREATE TABLE IF NOT EXISTS a (b)") }
                let count = try await client.read { db in try db.fetchOne("SELECT count(*) FROM a", as: Int.self) }
                #expect(count == 0)
                let queue = try DatabaseQueue()
                try await withDependencies {
                    $0.defaultDatabase = queue
                } operation: {
                    try await client.write { db in _ = try db.execute("CREATE TABLE mine (b)") }
                }
                #expect(try await queue.read { db in try db.tableExists("mine") })
            }
        }

        /// Both writes inside are one transaction, which the reference's engine doesn't keep.
        @Test("Nested writes are one transaction")
        func nestedWrites() async throws {
            struct Stop: Error {}
            try await withDatabase {
                @Dependency(\.sqliteClient) var client
                @Dependency(\.defaultDatabase) var database
                await #expect(throws: Stop.self) {
                    try await client.write {
                        @Dependency(\.defaultDatabase) var database
                        try await database.write { db in try Note(id: 1, text: "a").insert(db) }
                        throw Stop()
                    }
                }
                let count = try await database.read { db in try Note.fetchCount(db) }
                #expect(count == 0)
            }
        }

        /// A write that throws inside of a transaction is undone by itself, as it would be alone.
        @Test("A nested write is undone alone")
        func nestedWriteIsUndoneAlone() async throws {
            try await withDatabase {
                @Dependency(\.sqliteClient) var client
                let count = try await client.write {
                    @Dependency(\.defaultDatabase) var database
                    try await database.write { db in try Note(id: 1, text: "a").insert(db) }
                    _ = try? await database.write { db in
                        try Note(id: 2, text: "b").insert(db)
                        try Note(id: 1, text: "again").insert(db)
                    }
                    return try await database.read { db in try Note.fetchCount(db) }
                }
                #expect(count == 1)
            }
        }

        @Test("Tables are observed until it is cancelled")
        func observationUntilCancelled() async throws {
            try await withDatabase {
                @Dependency(\.sqliteClient) var client
                let calls = Counter()
                let cancellable: any SQLiteCancellable = try await client.observeTables(["note", "other"]) {
                    calls.add()
                }
                try await client.write { db in _ = try db.execute("INSERT INTO note (id, text) VALUES (1, 'a')") }
                try await eventually { calls.value == 1 }
                cancellable.cancel()
            }
        }

        @Test("Paths follow the context")
        func pathsFollowContext() throws {
            @Dependency(\.sqliteClient) var client
            let first = try #require(try client.contextSensitivePath())
            let second = try #require(try client.contextSensitivePath())
            #expect(first != second)
            #expect(first.hasPrefix(FileManager.default.temporaryDirectory.path))
            let given = try withDependencies {
                $0.databasePath = "/data/app.sqlite"
            } operation: {
                try SQLiteClient.path()
            }
            #expect(given == "/data/app.sqlite")
            #expect(throws: SQLiteClientError.self) { try SQLiteClient.path(fileName: "a/b") }
            let live = try SQLiteClient.path(fileName: "a.sqlite", context: .live)
            #expect(live.hasSuffix("/a.sqlite"))
            #expect(!live.hasPrefix(FileManager.default.temporaryDirectory.path))
            let preview = try SQLiteClient.path(fileName: "a.sqlite", context: .preview)
            #expect(preview.hasPrefix(FileManager.default.temporaryDirectory.path))
            #expect(try SQLiteClient.inMemory().contextSensitivePath() == nil)
        }

        /// A test puts its own closures in the client's place.
        @Test("Closures replace an engine")
        func mockedClosures() async throws {
            let reads = Counter()
            let mock = SQLiteClient(
                read: { _ in
                    reads.add()
                    throw SQLiteClientError(.busy, "Somebody else.", remedy: "Wait.")
                }, write: { _ in }, contextSensitivePath: { nil },
                observeTables: { _ in SQLiteTableChanges(SQLiteTableChanges.Sink()) {} })
            await #expect(throws: SQLiteClientError.self) { try await mock.read { _ in } }
            #expect(reads.value == 1)
            // An engine that doesn't run the body is found out, and nothing waits for ever.
            await #expect(throws: SQLiteClientError.self) { try await mock.write { _ in } }
            await #expect(throws: SQLiteClientError.self) { try await mock.write {} }
        }

        @Test("What is missing is reported")
        func missingDependencies() async throws {
            @Dependency(\.sqliteClient) var client
            @Dependency(\.defaultDatabase) var database
            for body in [
                { try await client.read { _ in } }, { try await client.write {} }, { try await database.read { _ in } },
                { try await SQLiteClient.unimplemented().read { _ in } },
                { _ = try await client.observeTables(["note"]) },
            ] as [() async throws -> Void] {
                do {
                    try await body()
                    Issue.record("no error")
                } catch let error as SQLiteClientError {
                    #expect(error.code == .missingDependency)
                    #expect(error.remedy.contains("$0."))
                }
            }
        }

        @Test("Test values are databases of their own")
        func testDatabases() async throws {
            let (one, other) = (SQLiteClient.test, SQLiteClient.test)
            try await one.write { db in _ = try db.execute("CREATE TABLE a (b)") }
            try await other.write { db in _ = try db.execute("CREATE TABLE a (b)") }
        }
    }
#endif
