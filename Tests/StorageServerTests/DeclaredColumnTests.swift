#if STORAGE_SERVER
    import Foundation
    import GRDB
    import NIOHTTP1
    import StorageEntities
    import StorageKit
    import StorageTesting
    import Testing

    @testable import StorageServer
    @testable import StorageSync

    /// Documents of tables with declared columns: a value is stored exactly, or refused.
    @Suite(.timeLimit(.minutes(10))) struct DeclaredColumnTests {
        @StorageEntity
        struct Sample: Equatable {
            var id: UUID
            var title: String
            var count: Int
            var ratio: Double
            var done: Bool
            var at: Date
            var data: Data
            var note: String?
        }

        private static let sample = Sample(
            id: UUID(), title: "a", count: 1, ratio: 0.5, done: true, at: Date(timeIntervalSinceReferenceDate: 1),
            data: Data([1, 2]), note: nil)

        /// A hub on a store that has the sample, with its document's path and a token.
        private func runWithSample(
            _ body: @escaping @Sendable (_ hub: ServedHub, _ path: String, _ token: String) async throws -> Void
        ) async throws {
            let store = try TemporaryStore { $0.autoSchema(SampleRecord.self) }
            try await store.storage.save(Self.sample)
            try await ServedHub.run(on: store, HubTokenFile(besideStore: ":memory:"), HubServerConfiguration()) { hub in
                let path = "/v1/collections/\(SampleRecord.databaseTableName)/documents/\(Self.sample.id.uuidString)"
                try await body(hub, path, try await hub.token())
            }
        }

        /// A hub on a table that another program has made.
        private func run(
            adopting table: String, _ statements: String,
            _ body: @escaping @Sendable (ServedHub) async throws -> Void
        ) async throws {
            let store = try TemporaryStore { schema in
                schema.migration("2026-01-01_tables") { try $0.execute(sql: statements) }
                schema.adopt(table)
            }
            try await ServedHub.run(on: store, HubTokenFile(besideStore: ":memory:"), HubServerConfiguration(), body)
        }

        private func fields(_ hub: ServedHub, _ path: String, _ token: String) async throws -> [String: String] {
            try HubDocument(json: try await hub.send(.GET, path, token: token).body.utf8).fields
        }

        @Test("What typed reads refuse isn't stored")
        func typedColumns() async throws {
            try await runWithSample { hub, path, token in
                let refused = [
                    #"{"title":5}"#, #"{"title":true}"#, #"{"count":"abc"}"#, #"{"count":"007"}"#, #"{"count":1.5}"#,
                    #"{"count":1e300}"#, #"{"ratio":"x"}"#, #"{"ratio":9007199254740993}"#,
                    #"{"ratio":9007199254740993.0}"#, #"{"ratio":9007199254740993e0}"#,
                    #"{"ratio":0.1234567890123456789}"#, #"{"count":0.1234567890123456789}"#, #"{"ratio":1e-400}"#,
                    #"{"ratio":1e400}"#, #"{"done":1}"#,
                    #"{"done":5}"#, #"{"done":"true"}"#, #"{"at":"yesterday"}"#, #"{"at":5}"#, #"{"data":5}"#,
                    #"{"data":"?"}"#, #"{"note":[1]}"#, #"{"updatedAt":0}"#,
                ]
                let before = try await hub.send(.GET, path, token: token)
                for body in refused {
                    let answer = try await hub.send(.PATCH, path, token: token, body: body)
                    #expect(answer.status == 422, "\(body) \(answer.body)")
                    #expect(answer.body.contains("doesn't accept this value"), "\(body) \(answer.body)")
                }
                #expect(try await hub.send(.GET, path, token: token).body == before.body)
                let accepted = [
                    ("title", #""007""#, #""007""#), ("count", "-7", "-7"),
                    ("count", "9007199254740993e0", "9007199254740993"),
                    ("count", "2.0", "2"), ("ratio", "2", "2"),
                    ("ratio", "0.10000000000000001", "0.1"), ("ratio", "9007199254740992", "9007199254740992"),
                    ("ratio", "9007199254740994.0", "9.007199254740994e+15"), ("done", "false", "false"),
                    ("at", #""2026-01-15T10:00:00Z""#, #""2026-01-15T10:00:00Z""#), ("data", #""AQI=""#, #""AQI=""#),
                    ("note", #""9007199254740993.0""#, #""9007199254740993.0""#),
                ]
                for (name, json, shown) in accepted {
                    let answer = try await hub.send(.PATCH, path, token: token, body: "{\"\(name)\":\(json)}")
                    #expect(answer.status == 200, "\(name) \(json) \(answer.body)")
                    let stored = try await fields(hub, path, token)[name]
                    #expect(stored == shown, "\(name) \(json)")
                }
                let read = try #require(try await hub.storage.get(Sample.self, id: Self.sample.id))
                #expect(read.count == 2)
                #expect(read.ratio == 9_007_199_254_740_994)
            }
        }

        /// A table of another program may hold what its columns' types don't say, as long as SQLite changes nothing.
        @Test("What SQLite would change isn't stored")
        func convertingColumns() async throws {
            let statements = """
                CREATE TABLE f(
                  id TEXT PRIMARY KEY NOT NULL, t TEXT, i INTEGER, r REAL, n DECIMAL(9), d DATETIME, o BOOLEAN, u);
                INSERT INTO f(id) VALUES ('1');
                """
            try await run(adopting: "f", statements) { hub in
                let (path, token) = ("/v1/collections/f/documents/1", try await hub.token())
                for body in [
                    #"{"t":5}"#, #"{"t":9007199254740993.0}"#, #"{"t":0.5}"#, #"{"i":"007"}"#, #"{"i":" 5"}"#,
                    #"{"i":"1e3"}"#, #"{"r":9007199254740993}"#, #"{"r":"5"}"#, #"{"n":"1.50"}"#, #"{"d":"2026"}"#,
                    #"{"o":1}"#, #"{"u":9007199254740993.0}"#, #"{"u":9007199254740993e0}"#,
                    #"{"u":[1]}"#, #"{"u":true}"#, #"{"r":0.1234567890123456789}"#, #"{"n":0.1234567890123456789}"#,
                    #"{"n":12345678901234567890e0}"#,
                ] {
                    let answer = try await hub.send(.PATCH, path, token: token, body: body)
                    #expect(answer.status == 422, "\(body) \(answer.body)")
                }
                #expect(try await fields(hub, path, token) == ["id": #""1""#])
                for (name, json, shown) in [
                    ("t", #""5""#, #""5""#), ("i", #""abc""#, #""abc""#), ("i", "2.5", "2.5"), ("i", "3.0", "3"),
                    ("i", "9007199254740993e0", "9007199254740993"), ("n", "12345678901234567e1", "123456789012345670"),
                    ("r", "0.10000000000000001", "0.1"),
                    ("r", "5", "5.0"), ("r", #""x""#, #""x""#), ("n", #""1,50""#, #""1,50""#),
                    ("d", "1700000000", "1700000000"), ("d", #""yesterday""#, #""yesterday""#), ("o", "true", "true"),
                    ("u", #""5""#, #""5""#), ("u", "9007199254740993", "9007199254740993"), ("u", "5.0", "5.0"),
                ] {
                    let answer = try await hub.send(.PATCH, path, token: token, body: "{\"\(name)\":\(json)}")
                    #expect(answer.status == 200, "\(name) \(json) \(answer.body)")
                    let stored = try await fields(hub, path, token)[name]
                    #expect(stored == shown, "\(name) \(json)")
                }
            }
        }

        /// A document that is replaced is as one that is created with the same fields.
        @Test("A column that isn't given has its default")
        func defaultsOfReplacedDocuments() async throws {
            let statements = """
                CREATE TABLE s(
                  id TEXT PRIMARY KEY NOT NULL, x TEXT NOT NULL, y INT NOT NULL DEFAULT 7, z TEXT NOT NULL DEFAULT ('a' || 1),
                  at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, o TEXT DEFAULT 'o');
                """
            try await run(adopting: "s", statements) { hub in
                let (path, token) = ("/v1/collections/s/documents/1", try await hub.token())
                let requests: [(HTTPMethod, String, Int)] = [
                    (.PUT, #"{"x":"1"}"#, 201), (.PUT, #"{"x":"2","y":8,"z":"b","at":"c"}"#, 200),
                    (.PUT, #"{"x":"3"}"#, 200), (.PATCH, #"{"y":9}"#, 200), (.PATCH, #"{"y":null}"#, 200),
                ]
                for (method, body, status) in requests {
                    let answer = try await hub.send(method, path, token: token, body: body)
                    #expect(answer.status == status, "\(body) \(answer.body)")
                }
                var shown = try await fields(hub, path, token)
                #expect(shown.removeValue(forKey: "at")?.hasPrefix("\"20") == true)
                #expect(shown == ["id": #""1""#, "x": #""3""#, "y": "7", "z": #""a1""#])
                let missing = try await hub.send(.PUT, path, token: token, body: #"{"y":1}"#)
                #expect(missing.status == 422, "x has no default")
            }
        }

        /// Another spelling of an id would be another document, which nothing ever changes, to whoever follows or writes it.
        @Test("A row with a UUID has one id")
        func oneIdPerUUID() async throws {
            try await runWithSample { hub, path, token in
                let (id, entity) = (Self.sample.id.uuidString, SampleRecord.databaseTableName)
                let list = try await hub.send(.GET, "/v1/collections/\(entity)/documents", token: token)
                #expect(try HubDocumentPage(json: list.body.utf8).documents.map(\.id) == [id])
                let before = try await hub.send(.GET, path, token: token)
                for other in [id.lowercased(), id.replacing("-", with: "")] where other != id {
                    let path = "/v1/collections/\(entity)/documents/\(other)"
                    let follow = "/v1/changes?collection=\(entity)&document=\(other)"
                    let requests: [(HTTPMethod, String, String?, Int)] = [
                        (.GET, path, nil, 404), (.PATCH, path, #"{"count":2}"#, 422), (.PUT, path, "{}", 422),
                        (.DELETE, path, nil, 422), (.GET, follow, nil, 422),
                        (.GET, "/v1/collections/\(entity)/documents?after=\(other)", nil, 422),
                    ]
                    for (method, path, body, status) in requests {
                        let answer = try await hub.send(method, path, token: token, body: body)
                        #expect(answer.status == status, "\(method) \(path) \(answer.body)")
                        #expect(status == 404 || answer.body.contains("UUIDs in upper case"), "\(answer.body)")
                    }
                }
                #expect(try await hub.send(.GET, path, token: token).body == before.body)
                let changes = "/v1/changes?collection=\(entity)&document=\(id)"
                let page = try HubPage(json: try await hub.send(.GET, changes, token: token).body.utf8)
                #expect(page.page.changes.map(\.document.id) == [id])
            }
        }

        /// What a trigger or a default makes of a row counts, as it does for the reader.
        @Test("A condition is checked on the stored row")
        func conditionOnStoredRow() async throws {
            let statements = """
                CREATE TABLE o(
                  id TEXT PRIMARY KEY NOT NULL, level TEXT, state TEXT NOT NULL DEFAULT 'open', tenant INTEGER);
                CREATE TRIGGER moved AFTER INSERT ON o WHEN new.level = 'moved'
                  BEGIN UPDATE o SET tenant = 8 WHERE id = new.id; END;
                """
            try await run(adopting: "o", statements) { hub in
                let grant = { (condition: String) in
                    [try HubGrant(entity: "o", writes: true, condition: condition)]
                }
                let level = try await hub.token("level", try grant("level > 7"))
                let tenant = try await hub.token("tenant", try grant("tenant = 7"))
                let open = try await hub.token("open", try grant("state = 'open'"))
                let writes = [
                    ("1", level, #"{"level":10}"#, false), ("2", level, #"{"level":"8"}"#, true),
                    ("3", tenant, #"{"tenant":"7"}"#, false), ("4", tenant, #"{"tenant":7.0}"#, true),
                    ("5", tenant, #"{"tenant":7,"level":"moved"}"#, false), ("6", open, "{}", true),
                ]
                for (id, token, body, isAccepted) in writes {
                    let path = "/v1/collections/o/documents/\(id)"
                    let answer = try await hub.send(.PUT, path, token: token, body: body)
                    #expect(answer.status == (isAccepted ? 201 : 422), "\(body) \(answer.body)")
                    #expect(try await hub.send(.GET, path, token: token).status == (isAccepted ? 200 : 404), "\(body)")
                }
                let count = try await hub.storage.engine.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM o") }
                #expect(count == 3)
            }
        }
    }
#endif
