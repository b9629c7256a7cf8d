#if STORAGE_SERVER
    import Foundation
    import GRDB
    import NIOHTTP1
    import StorageKit
    import StorageTesting
    import Testing

    @testable import StorageServer
    @testable import StorageSync

    /// Documents over HTTP: versions, conditions and keys of requests.
    @Suite(.timeLimit(.minutes(10))) struct DocumentRouteTests {
        private let path = "/v1/collections/notes/documents/1"

        @Test("Documents are written and read")
        func writingAndReading() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let created = try await hub.send(.PUT, path, token: token, body: #"{"text":"a","n":1}"#)
                #expect(created.status == 201)
                let version = try #require(created.headers.first(name: "ETag"))
                let read = try await hub.send(.GET, path, token: token)
                #expect(read.status == 200)
                #expect(read.headers.first(name: "ETag") == version)
                #expect(try HubDocument(json: read.body.utf8).fields == ["id": #""1""#, "text": #""a""#, "n": "1"])
                let known = try await hub.send(.GET, path, token: token, headers: ["If-None-Match": version])
                #expect(known.status == 304)
                #expect(known.body.isEmpty)
                let head = try await hub.send(.HEAD, path, token: token)
                #expect(head.status == 200)
                #expect(head.headers.first(name: "ETag") == version)
                #expect(head.headers.first(name: "Content-Length") == "\(read.body.utf8.count)")
                #expect(head.body.isEmpty)
                let patched = try await hub.send(
                    .PATCH, path, token: token, body: #"{"n":null,"text":"b"}"#,
                    headers: ["Content-Type": "application/merge-patch+json", "If-Match": version])
                #expect(patched.status == 200)
                let late = try await hub.send(
                    .PATCH, path, token: token, body: #"{"n":2}"#, headers: ["If-Match": version])
                #expect(late.status == 412)
                #expect(late.code == "precondition-failed")
                let fields = try HubDocument(json: try await hub.send(.GET, path, token: token).body.utf8).fields
                #expect(fields == ["id": #""1""#, "text": #""b""#])
                let again = try await hub.send(
                    .PUT, path, token: token, body: "{}", headers: ["If-None-Match": "*"])
                #expect(again.status == 412)
                #expect(try await hub.send(.DELETE, path, token: token).status == 204)
                #expect(try await hub.send(.DELETE, path, token: token).status == 204, "a deletion of nothing")
                #expect(try await hub.send(.GET, path, token: token).code == "not-found")
                #expect(try await hub.send(.PATCH, path, token: token, body: "{}").code == "not-found")
            }
        }

        /// A proxy that compresses an answer weakens its tag.
        @Test("A version is known by a weak tag, and in a list")
        func weakTagsAndLists() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let created = try await hub.send(.PUT, path, token: token, body: #"{"n":1}"#)
                let tag = try #require(created.headers.first(name: "ETag"))
                for (header, tags, status) in [
                    ("If-None-Match", "W/\(tag)", 304), ("If-None-Match", "\"999\", W/\"a,b\" ,\(tag)", 304),
                    ("If-None-Match", "\"999\"", 200), ("If-Match", "\"999\"", 412), ("If-Match", "?", 412),
                    ("If-None-Match", "\"x\"", 200), ("If-Match", "\"x\"", 412), ("If-Match", "\"x\", \(tag)", 200),
                    ("If-Match", "\"999\",W/\(tag)", 200), ("If-Match", "*", 200),
                ] {
                    let answer = try await hub.send(.GET, path, token: token, headers: [header: tags])
                    #expect(answer.status == status, "\(header): \(tags)")
                }
                for (tags, status) in [
                    ("W/\(tag)", 200), ("\"999\", \(tag)", 200), ("\"x\", \(tag)", 200), ("\"999\"", 412),
                    ("\"x\"", 412), ("\"\"", 412), ("\"01\"", 412), ("?", 400), (",", 400),
                ] {
                    let answer = try await hub.send(
                        .PUT, path, token: token, body: #"{"n":1}"#, headers: ["If-Match": tags])
                    #expect(answer.status == status, "\(tags) \(answer.body)")
                }
            }
        }

        /// Another program's connection to the hub's store, which waits while that is written to.
        private func otherProgram(_ hub: ServedHub) async throws -> DatabaseQueue {
            let file = try await hub.storage.engine.read {
                try String.fetchOne($0, sql: "SELECT file FROM pragma_database_list WHERE name = 'main'")
            }
            var configuration = GRDB.Configuration()
            configuration.busyMode = .timeout(60)
            return try DatabaseQueue(path: try #require(file), configuration: configuration)
        }

        @Test("A row that was written bypassing the hub's log has no tag")
        func rowsPastTheLog() async throws {
            try await run(adopting: ["f"], "CREATE TABLE f(id TEXT PRIMARY KEY NOT NULL, n INTEGER)") { hub in
                let foreign = try await otherProgram(hub)
                try await foreign.write { try $0.execute(sql: "INSERT INTO f(id, n) VALUES ('1', 1)") }
                let path = "/v1/collections/f/documents/1"
                let token = try await hub.token()
                let read = try await hub.send(.GET, path, token: token, headers: ["If-None-Match": "\"0\""])
                #expect(read.status == 200)
                #expect(read.headers.first(name: "ETag") == nil)
                let same = try await hub.send(.PUT, path, token: token, body: #"{"n":1}"#)
                #expect(same.status == 200)
                #expect(same.headers.first(name: "ETag") == nil)
            }
        }

        @Test("A row that was written bypassing the hub's log isn't changed, and the answer says why")
        func changingRowPastTheLog() async throws {
            try await run(adopting: ["f"], "CREATE TABLE f(id TEXT PRIMARY KEY NOT NULL, n INTEGER)") { hub in
                let foreign = try await otherProgram(hub)
                try await foreign.write { try $0.execute(sql: "INSERT INTO f(id, n) VALUES ('1', 1)") }
                let path = "/v1/collections/f/documents/1"
                let token = try await hub.token()
                for (method, body) in [(HTTPMethod.PUT, #"{"n":2}"#), (.PATCH, #"{"n":2}"#), (.DELETE, "")] {
                    let answer = try await hub.send(method, path, token: token, body: body)
                    #expect(answer.status == 409)
                    #expect(answer.code == "unrecorded")
                    #expect(answer.body.contains("storagekit record"))
                }
                let other = try await hub.send(
                    .PUT, "/v1/collections/f/documents/2", token: token, body: #"{"n":2}"#)
                #expect(other.status == 201)
            }
        }

        /// As many as a page has room for, or more.
        @Test("Rows that were written past the log don't keep a follower on its first page")
        func changesPastRowsPastTheLog() async throws {
            try await run(adopting: ["f"], "CREATE TABLE f(id TEXT PRIMARY KEY NOT NULL, n INTEGER)") { hub in
                let foreign = try await otherProgram(hub)
                try await foreign.write { try $0.execute(sql: "INSERT INTO f(id, n) VALUES ('1', 1), ('2', 2)") }
                let token = try await hub.token()
                let recorded = try await hub.send(
                    .PUT, "/v1/collections/f/documents/3", token: token, body: #"{"n":3}"#)
                #expect(recorded.status == 201)
                for limit in 1...3 {
                    let answer = try await hub.send(
                        .GET, "/v1/changes?collection=f&after=0&limit=\(limit)", token: token)
                    let page = try HubPage(json: answer.body.utf8).page
                    #expect(page.changes.map(\.document.id) == ["3"])
                    #expect(page.end > page.start)
                    #expect(page.isInOrder)
                }
                let stream = try await hub.send(
                    .GET, "/v1/changes?collection=f&after=0&limit=1&follow=false", token: token,
                    headers: ["Accept": "text/event-stream"])
                #expect(stream.body.hasSuffix("event: end\ndata: {}\n\n"))
            }
        }

        @Test("Ids are any text")
        func idsOfAnyText() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                for id in ["a/b", "ä ö", "%", "..", "a?b#c", "😀", "x+y"] {
                    let path = "/v1/collections/no%20tes/documents/\(PercentCoding.encoded(id))"
                    #expect(try await hub.send(.PUT, path, token: token, body: #"{"a":1}"#).status == 201, "\(id)")
                    let read = try await hub.send(.GET, path, token: token)
                    #expect(try HubDocument(json: read.body.utf8).id == id)
                }
                for path in ["/v1/collections/notes/documents/%00", "/v1/collections/notes/documents/%ff"] {
                    #expect(try await hub.send(.PUT, path, token: token, body: "{}").status == 404)
                }
                let names = try await hub.send(.GET, "/v1/collections", token: token)
                #expect(try HubCollectionList(json: names.body.utf8).collections.map(\.name) == ["no tes"])
            }
        }

        @Test("A request with a key is made once")
        func idempotencyKey() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let key = ["Idempotency-Key": "k1"]
                let first = try await hub.send(.PUT, path, token: token, body: #"{"n":1}"#, headers: key)
                _ = try await hub.send(.PUT, path, token: token, body: #"{"n":2}"#)
                let again = try await hub.send(.PUT, path, token: token, body: #"{"n":1}"#, headers: key)
                #expect(again.status == first.status)
                #expect(again.body == first.body)
                let fields = try HubDocument(json: try await hub.send(.GET, path, token: token).body.utf8).fields
                #expect(fields == ["id": #""1""#, "n": "2"])
                let other = try await hub.send(.PUT, path, token: token, body: #"{"n":3}"#, headers: key)
                #expect(other.status == 409)
                #expect(other.code == "key-reused")
                let bob = try await hub.token("bob")
                let his = try await hub.send(.PUT, path, token: bob, body: #"{"n":3}"#, headers: key)
                #expect(his.status == 200, "another client's key is another key")
            }
        }

        @Test("Collections come in pages, and queries select")
        func pagesAndQueries() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                for number in 1...7 {
                    _ = try await hub.send(
                        .PUT, "/v1/collections/notes/documents/\(number)", token: token,
                        body: #"{"n":\#(number)}"#)
                }
                var (ids, next): ([String], String?) = ([], nil)
                repeat {
                    let rest = next.map { "&after=\(PercentCoding.encoded($0))" } ?? ""
                    let page = try HubDocumentPage(
                        json: try await hub.send(
                            .GET, "/v1/collections/notes/documents?limit=3\(rest)", token: token
                        ).body.utf8)
                    ids += page.documents.map(\.id)
                    next = page.hasMore ? page.documents.last?.id : nil
                } while next != nil
                #expect(ids == (1...7).map { "\($0)" })
                let query = QueryBuilder().where("n", isGreaterThan: 4).order(by: "n", descending: true)
                let found = try await hub.send(
                    .POST, "/v1/collections/notes/query", token: token,
                    body: String(decoding: query.json, as: UTF8.self))
                #expect(try HubDocumentPage(json: found.body.utf8).documents.map(\.id) == ["7", "6", "5"])
            }
        }

        // MARK: Adopted tables

        /// A store of tables that other programs have made, and a hub on it.
        private func run(
            adopting tables: [String], _ statements: String,
            _ body: @escaping @Sendable (ServedHub) async throws -> Void
        ) async throws {
            let store = try TemporaryStore { schema in
                schema.migration("2026-01-01_tables") { try $0.execute(sql: statements) }
                for table in tables { schema.adopt(table) }
            }
            try await ServedHub.run(on: store, HubTokenFile(besideStore: ":memory:"), HubServerConfiguration(), body)
        }

        /// JSON has neither bytes nor infinity, and no document says which text is which of them.
        @Test("What was read can be sent back", arguments: [true, false])
        func sendingBackWhatWasRead(escapes: Bool) async throws {
            let statements = """
                CREATE TABLE f(
                  id TEXT PRIMARY KEY NOT NULL, b BLOB, any_, mb MEDIUMBLOB, lower blob, r REAL, n REAL, t TEXT);
                INSERT INTO f VALUES ('1', x'0fff', x'0fff', x'0fff', x'0fff', 9e999, 2.0, x'0102');
                """
            try await run(adopting: ["f"], statements) { hub in
                func values() async throws -> [String?] {
                    let columns = ["b", "any_", "mb", "lower", "r", "n", "t"].map { "quote(\($0))" }
                    return try await hub.storage.engine.read { db in
                        let row = try #require(
                            try Row.fetchOne(db, sql: "SELECT \(columns.joined(separator: ", ")) FROM f"))
                        return (0..<columns.count).map { row[$0] }
                    }
                }
                let path = "/v1/collections/f/documents/1"
                let token = try await hub.token()
                let before = try await values()
                let read = try await hub.send(.GET, path, token: token)
                let fields = try HubDocument(json: read.body.utf8).fields
                #expect(Set(fields.keys) == ["id", "b", "any_", "mb", "lower", "n", "t"])
                // Encoders may escape a slash.
                let body = DocumentFields(fields.mapValues { escapes ? $0.replacing("/", with: #"\/"#) : $0 }).json
                for method in [HTTPMethod.PUT, .PATCH] {
                    let answer = try await hub.send(method, path, token: token, body: body)
                    #expect(answer.status == 200, "\(answer.body)")
                    #expect(
                        answer.headers.first(name: "ETag") == read.headers.first(name: "ETag"), "nothing was changed")
                    #expect(try await values() == before)
                }
                let changed = #"{"id":"1","b":"AQI=","mb":"AQI=","lower":"AQI=","any_":"AQI=","n":3}"#
                #expect(try await hub.send(.PUT, path, token: token, body: changed).status == 200)
                #expect(
                    try await values() == ["X'0102'", "'AQI='", "X'0102'", "X'0102'", before[4], "3.0", "NULL"],
                    "a column without a type keeps the text that it is given")
                #expect(try await hub.send(.PATCH, path, token: token, body: #"{"r":null}"#).status == 200)
                #expect(try await values()[4] == "NULL")
            }
        }

        /// The trigger's change is an event of its own, behind that of the write.
        @Test("The version of a write is that of the document", arguments: [true, false])
        func versionBehindTriggers(hasKey: Bool) async throws {
            let statements = """
                CREATE TABLE f(id TEXT PRIMARY KEY NOT NULL, n INTEGER, revision INTEGER NOT NULL DEFAULT 0);
                CREATE TRIGGER made AFTER INSERT ON f BEGIN UPDATE f SET revision = 1 WHERE id = new.id; END;
                CREATE TRIGGER changed AFTER UPDATE OF n ON f
                  BEGIN UPDATE f SET revision = old.revision + 1 WHERE id = new.id; END;
                """
            try await run(adopting: ["f"], statements) { hub in
                let token = try await hub.token()
                let path = "/v1/collections/f/documents/1"
                var version: String?
                let writes: [(HTTPMethod, String, Int)] = [
                    (.PUT, #"{"n":1}"#, 201), (.PATCH, #"{"n":2}"#, 200), (.PUT, #"{"n":3,"revision":9}"#, 200),
                ]
                for (number, (method, body, status)) in writes.enumerated() {
                    var headers = hasKey ? ["Idempotency-Key": "\(number)"] : [:]
                    headers["If-Match"] = version
                    let answer = try await hub.send(method, path, token: token, body: body, headers: headers)
                    #expect(answer.status == status, "\(answer.body)")
                    let read = try await hub.send(.GET, path, token: token)
                    version = answer.headers.first(name: "ETag")
                    #expect(version == read.headers.first(name: "ETag"))
                    guard hasKey else { continue }
                    let again = try await hub.send(method, path, token: token, body: body, headers: headers)
                    #expect(again.body == answer.body, "it was made once")
                }
            }
        }

        @Test(
            "A table whose rows ids can't identify isn't served",
            arguments: [
                ("id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE", "'Anna'", "ANNA"),
                ("id TEXT PRIMARY KEY NOT NULL COLLATE RTRIM", "'Anna'", "Anna%20"),
                ("id NUMERIC PRIMARY KEY NOT NULL", "1", "01"), ("id REAL PRIMARY KEY NOT NULL", "1.5", "1.5"),
                ("id PRIMARY KEY NOT NULL", "5", "5"), ("id INT PRIMARY KEY NOT NULL", "'abc'", "abc"),
                ("id TEXT NOT NULL, k TEXT NOT NULL DEFAULT '', PRIMARY KEY (id, k)", "'1'", "1"),
            ])
        func unservedTables(key: String, stored: String, id: String) async throws {
            let statements = """
                CREATE TABLE f(n INTEGER, \(key));
                INSERT INTO f(id, n) VALUES (\(stored), 7);
                """
            try await run(adopting: ["f"], statements) { hub in
                func rows() async throws -> [String] {
                    try await hub.storage.engine.read { try String.fetchAll($0, sql: "SELECT quote(id) || n FROM f") }
                }
                let before = try await rows()
                let token = try await hub.token()
                let path = "/v1/collections/f/documents"
                let stream = ["Accept": "text/event-stream"]
                let requests: [(HTTPMethod, String, String?, [String: String])] = [
                    (.GET, path, nil, [:]), (.GET, "\(path)/\(id)", nil, [:]),
                    (.PUT, "\(path)/\(id)", #"{"n":8}"#, [:]),
                    (.PUT, "\(path)/\(id)", #"{"n":8}"#, ["Idempotency-Key": "k"]),
                    (.PATCH, "\(path)/\(id)", #"{"n":8}"#, [:]), (.DELETE, "\(path)/\(id)", nil, [:]),
                    (.POST, "/v1/collections/f/query", "{}", [:]), (.POST, "/v1/collections/f/query", "{}", stream),
                    (.GET, "/v1/changes?collection=f", nil, [:]),
                ]
                for (method, path, body, headers) in requests {
                    let answer = try await hub.send(method, path, token: token, body: body, headers: headers)
                    #expect(answer.status == 422, "\(method) \(path) \(answer.body)")
                    #expect(answer.body.contains("can't be served"), "\(method) \(path) \(answer.body)")
                }
                #expect(try await rows() == before)
                let names = try await hub.send(.GET, "/v1/collections", token: token)
                #expect(try HubCollectionList(json: names.body.utf8).collections.isEmpty)
            }
        }

        @Test(
            "Each row of an adopted table has one id",
            arguments: [
                ("TABLE f(id TEXT PRIMARY KEY NOT NULL, n)", "('1', 1), ('01', 2), ('Anna', 3), ('1.5', 4)"),
                ("TABLE f(id VARCHAR(9) NOT NULL, n, PRIMARY KEY (id))", "('01', 2), ('Anna', 3), ('ANNA', 4)"),
                ("TABLE f(id INTEGER PRIMARY KEY, n)", "(1, 1), (-2, 2), (300, 3)"),
                ("TABLE f(id integer PRIMARY KEY AUTOINCREMENT, n)", "(1, 1), (2, 2), (300, 3)"),
                ("TABLE f(n ANY, id INT PRIMARY KEY NOT NULL) STRICT", "(1, 1), (2, 2), (300, 3)"),
            ])
        func oneIdPerRow(table: String, rows: String) async throws {
            try await run(adopting: ["f"], "CREATE \(table); INSERT INTO f(id, n) VALUES \(rows);") { hub in
                let token = try await hub.token()
                let path = "/v1/collections/f/documents"
                func list() async throws -> [String: String] {
                    var (fields, next): ([String: String], String?) = ([:], "")
                    while let after = next {
                        let rest = after.isEmpty ? "" : "&after=\(PercentCoding.encoded(after))"
                        let page = try HubDocumentPage(
                            json: try await hub.send(.GET, "\(path)?limit=1\(rest)", token: token).body.utf8)
                        for document in page.documents { fields[document.id] = document.fields["n"] }
                        next = page.hasMore ? page.documents.last?.id : nil
                    }
                    return fields
                }
                var expected = try await list()
                #expect(expected.count == rows.count(where: { $0 == "(" }))
                for (id, n) in expected {
                    let read = try await hub.send(.GET, "\(path)/\(id)", token: token)
                    #expect(try HubDocument(json: read.body.utf8).fields["n"] == n)
                }
                // What SQLite takes for the same number or text is another document, or none.
                for id in ["1", "01", "1.0", "1.5", "anna", "ANNA", "Anna", "-02", "-2"] {
                    let answer = try await hub.send(.PUT, "\(path)/\(id)", token: token, body: #"{"n":9}"#)
                    guard answer.status != 422 else {
                        #expect(try await hub.send(.GET, "\(path)/\(id)", token: token).status == 404)
                        #expect(try await hub.send(.GET, "\(path)?after=\(id)", token: token).status == 422)
                        continue
                    }
                    #expect(answer.status == (expected[id] == nil ? 201 : 200), "\(id): \(answer.body)")
                    expected[id] = "9"
                    #expect(try await list() == expected)
                }
            }
        }

        @Test(
            "What can't be stored is refused",
            arguments: [
                (#"{"a":"#, 400, "malformed"), (#"{"a":1,"a":2}"#, 400, "malformed"), ("[]", 400, "malformed"),
                (#"{"a":"\u0000"}"#, 422, "invalid"), (#"{"id":"2"}"#, 422, "invalid"), ("", 400, "malformed"),
            ])
        func invalidDocuments(body: String, status: Int, code: String) async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                _ = try await hub.send(.PUT, path, token: token, body: #"{"id":"1"}"#)
                let answer = try await hub.send(.PUT, path, token: token, body: body)
                #expect(answer.status == status, "\(answer.body)")
                #expect(answer.code == code, "\(answer.body)")
                #expect(answer.headers.first(name: "Content-Type") == "application/problem+json")
                let kept = try HubDocument(json: try await hub.send(.GET, path, token: token).body.utf8).fields
                #expect(kept == ["id": #""1""#])
            }
        }
    }
#endif
