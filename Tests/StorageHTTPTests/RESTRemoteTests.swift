#if STORAGE_HTTP
    import Foundation
    import NIOHTTP1
    import StorageEntities
    import StorageHTTP
    import StorageKit
    import StorageSync
    import Testing

    @StorageEntity(table: "errands")
    struct Errand: DataSyncModelProtocol, Equatable {
        var id: String
        var title: String
        var priority: Int
        var note: String?

        init(_ id: String, _ title: String = "", priority: Int = 0, note: String? = nil) {
            self.init(id: id, title: title, priority: priority, note: note)
        }

        init(id: String, title: String, priority: Int, note: String?) {
            self.id = id
            self.title = title
            self.priority = priority
            self.note = note
        }

        var json: String {
            "{\"id\":\"\(id)\",\(note.map { "\"note\":\"\($0)\"," } ?? "")\"priority\":\(priority),\"title\":\"\(title)\"}"
        }
    }

    /// What a REST remote asks for, and what it makes of the answers.
    @MainActor @Suite(.timeLimit(.minutes(10))) struct RESTRemoteTests {
        private nonisolated static let errand = Errand("a/1 ü", "Buy bread", priority: 2)

        private func remote(
            _ server: TestServer, path: String? = "users/7/errands",
            _ change: (inout RESTConfiguration) -> Void = { _ in }
        ) -> RESTRemoteCollectionService<Errand> {
            var configuration = RESTConfiguration("\(server.origin)/v1/") { _ in ["Authorization": "Bearer x"] }
            configuration.client = server.client
            change(&configuration)
            return RESTRemoteCollectionService(configuration) { path }
        }

        @Test("Each call is a request")
        func callsAreRequests() async throws {
            let answers: @Sendable (TestServer.Request) -> Reply = { request in
                request.method == "GET"
                    ? .ok(request.path.hasSuffix("errands") ? "[\(Self.errand.json)]" : Self.errand.json)
                    : .status("204 No Content")
            }
            try await TestServer.run(answers) { server async throws in
                let remote = remote(server)
                #expect(remote.collectionPath == "users/7/errands")
                #expect(try await remote.getCollection() == [Self.errand])
                #expect(try await remote.getDocument(id: Self.errand.id) == Self.errand)
                try await remote.saveDocument(Self.errand)
                try await remote.updateDocument(id: "b", data: ["title": "x", "note": String?.none, "priority": 3])
                try await remote.deleteDocument(id: "b")
                let base = "/v1/users/7/errands"
                #expect(
                    server.requests.map { "\($0.method) \($0.path)" } == [
                        "GET \(base)", "GET \(base)/a%2F1%20%C3%BC", "PUT \(base)/a%2F1%20%C3%BC", "PATCH \(base)/b",
                        "DELETE \(base)/b",
                    ])
                #expect(server.requests.allSatisfy { $0.headers.first(name: "Authorization") == "Bearer x" })
                let bodies = server.requests.map { String(decoding: $0.body, as: UTF8.self) }
                #expect(
                    bodies == ["", "", Self.errand.json, #"{"note":null,"priority":3,"title":"x"}"#, ""])
                let types = server.requests.map { $0.headers.first(name: "Content-Type") }
                #expect(types == [nil, nil, "application/json", "application/merge-patch+json", nil])
                // Nobody is asked for what has no path.
                for id in ["", ".", ".."] {
                    await #expect(throws: RemoteError.self) { _ = try await remote.getDocument(id: id) }
                }
                #expect(server.requests.count == 5)
            }
        }

        @Test("Verbs and paths are the service's own")
        func customVerbsAndPaths() async throws {
            try await TestServer.run({ _ in .status("201 Created") }) { server async throws in
                let remote = remote(server) {
                    $0.saveMethod = "POST"
                    $0.savesAtCollection = true
                    $0.updateMethod = "PUT"
                    $0.updateContentType = "application/json"
                    $0.deleteMethod = "POST"
                    $0.documentPath = { collection, id in "\(collection)/by-id/\(id)?v=1" }
                    $0.idempotencyHeader = "X-Key"
                }
                try await remote.saveDocument(Errand("a"))
                try await remote.updateDocument(id: "a", data: ["title": "x"])
                try await remote.deleteDocument(id: "a")
                let base = "/v1/users/7/errands"
                #expect(
                    server.requests.map { "\($0.method) \($0.path)" }
                        == ["POST \(base)", "PUT \(base)/by-id/a?v=1", "POST \(base)/by-id/a?v=1"])
                // Who isn't asked by an engine has no key to send.
                #expect(server.requests.allSatisfy { !$0.headers.contains(name: "X-Key") })
                #expect(remote.capabilities == [.partialUpdates, .idempotencyKeys])
            }
        }

        @Test("Nothing is requested while signed out")
        func signedOut() async throws {
            try await TestServer.run({ _ in .ok("[]") }) { server async throws in
                let remote = remote(server, path: nil)
                await #expect(throws: RemoteError.unauthorized) { _ = try await remote.getCollection() }
                await #expect(throws: RemoteError.unauthorized) { try await remote.saveDocument(Errand("a")) }
                #expect(server.requests.isEmpty)
            }
        }

        enum Meaning: Sendable {
            case rejected, conflict, again, missing
        }

        @Test(
            "A status says what becomes of a write",
            arguments: [
                (400, Meaning.rejected), (403, .rejected), (405, .rejected), (413, .rejected), (422, .rejected),
                (428, .rejected), (501, .rejected), (409, .conflict), (412, .conflict), (404, .missing),
                (410, .missing),
                (408, .again), (425, .again), (429, .again), (500, .again), (502, .again), (503, .again), (302, .again),
                (799, .again),
            ])
        func statusesOfWrites(status: Int, meaning: Meaning) async throws {
            try await TestServer.run({ _ in .status("\(status) X", ["Retry-After: 7"], body: "secret") }) {
                server async throws in
                let remote = remote(server)
                for write: @MainActor () async throws -> Void in [
                    { try await remote.saveDocument(Errand("a")) },
                    { try await remote.updateDocument(id: "a", data: ["title": "x"]) },
                    { try await remote.deleteDocument(id: "a") },
                ] {
                    var found: (any Error)?
                    do { try await write() } catch { found = error }
                    switch (meaning, found) {
                    case (.rejected, RemoteError.rejected(let reason)?), (.conflict, RemoteError.conflict(let reason)?):
                        #expect(reason.hasPrefix("the service answers \(status)"))
                        #expect(!reason.contains("secret"))
                    case (.missing, RemoteError.notFound?): break
                    // Deleting what isn't there is done.
                    case (.missing, nil): break
                    case (.again, let error as HTTPRemoteError):
                        #expect(error.retryAfter == .seconds(7))
                        #expect(error.status == status)
                    default: Issue.record("\(status) is taken for \(found.map { "\($0)" } ?? "done")")
                    }
                }
            }
        }

        @Test("A read that fails is retried", arguments: [403, 409, 422, 429, 500])
        func failedReads(status: Int) async throws {
            try await TestServer.run({ _ in .status("\(status) X", ["Retry-After: 7"]) }) { server async throws in
                let remote = remote(server)
                let error = await #expect(throws: HTTPRemoteError.self) { _ = try await remote.getCollection() }
                #expect(error?.status == status)
                #expect(error?.retryAfter == .seconds(7))
            }
        }

        @Test("The service's own reason is reported on request")
        func customRejectionReason() async throws {
            try await TestServer.run({ _ in .status("422 X", body: #"{"detail":"too dear"}"#) }) {
                server async throws in
                let remote = remote(server) {
                    $0.rejectionReason = { status, body in "\(status): \(String(decoding: body, as: UTF8.self))" }
                }
                await #expect(throws: RemoteError.rejected(#"422: {"detail":"too dear"}"#)) {
                    try await remote.saveDocument(Errand("a"))
                }
            }
        }

        @Test("Refused credentials are renewed once")
        func credentialsAreRenewedOnce() async throws {
            let answers: @Sendable (TestServer.Request) -> Reply = { request in
                request.headers.first(name: "Authorization") == "new" ? .ok("[]") : .status("401 Unauthorized")
            }
            try await TestServer.run(answers) { server async throws in
                var configuration = RESTConfiguration(server.origin) { wereRefused in
                    ["Authorization": wereRefused ? "new" : "old"]
                }
                configuration.client = server.client
                #expect(
                    try await RESTRemoteCollectionService<Errand>(configuration) { "errands" }.getCollection() == [])
                #expect(server.requests.count == 2)
                configuration.headers = { _ in ["Authorization": "old"] }
                let stale = RESTRemoteCollectionService<Errand>(configuration) { "errands" }
                await #expect(throws: RemoteError.unauthorized) { _ = try await stale.getCollection() }
                #expect(server.requests.count == 3)
                configuration.headers = { ["Authorization": $0 ? "other" : "old"] }
                let other = RESTRemoteCollectionService<Errand>(configuration) { "errands" }
                await #expect(throws: RemoteError.unauthorized) { try await other.saveDocument(Errand("a")) }
                #expect(server.requests.count == 5)
            }
        }

        @Test("Pages are followed as the service says")
        func paginationStyles() async throws {
            let (a, b, c) = (Errand("a").json, Errand("b").json, Errand("c").json)
            let answers: @Sendable (TestServer.Request) -> Reply = { request in
                switch request.path {
                case "/link": .ok("[\(a)]", ["Link: </link?page=2>; rel=\"next\""])
                case "/link?page=2": .ok("[\(b),\(c)]")
                case "/cursor": .ok("{\"data\":{\"items\":[\(a)]},\"page\":{\"next\":\"x y\"}}")
                case "/cursor?after=x%20y": .ok("{\"data\":{\"items\":[\(b)]},\"page\":{\"next\":17}}")
                case "/cursor?after=17": .ok("{\"data\":{\"items\":[\(c)]},\"page\":{\"next\":null}}")
                case "/url": .ok("{\"data\":{\"items\":[\(a),\(b)]},\"next\":\"?more\"}")
                case "/url?more": .ok("{\"data\":{\"items\":[\(c)]}}")
                case "/circle": .ok("[\(a)]", ["Link: </circle?page=2>; rel=\"next\""])
                case "/circle?page=2": .ok("[\(a)]", ["Link: </circle?page=2>; rel=\"next\""])
                case "/elsewhere": .ok("[\(a)]", ["Link: <http://example.com/>; rel=\"next\""])
                default: .status("404 Not Found")
                }
            }
            try await TestServer.run(answers) { server async throws in
                @MainActor func ids(_ path: String, _ pagination: RESTPagination, items: String? = nil) async throws
                    -> [String]
                {
                    var configuration = RESTConfiguration(server.origin)
                    configuration.client = server.client
                    configuration.pagination = pagination
                    configuration.itemsField = items
                    return try await RESTRemoteCollectionService<Errand>(configuration) { path }.getCollection().map(
                        \.id)
                }
                #expect(try await ids("link", .link) == ["a", "b", "c"])
                #expect(try await ids("link", .none) == ["a"])
                let cursor = RESTPagination.cursor(field: "page.next", parameter: "after")
                #expect(try await ids("cursor", cursor, items: "data.items") == ["a", "b", "c"])
                #expect(try await ids("url", .url(field: "next"), items: "data.items") == ["a", "b", "c"])
                for path in ["circle", "elsewhere"] {
                    let error = await #expect(throws: HTTPRemoteError.self) { _ = try await ids(path, .link) }
                    #expect(error?.code == .badLink)
                }
                let error = await #expect(throws: HTTPRemoteError.self) {
                    _ = try await ids("url", .none, items: "rows")
                }
                #expect(error?.code == .undecodable)
            }
        }

        @Test("Queries are in the URL")
        func queriesInURL() async throws {
            try await TestServer.run({ _ in .ok("[]") }) { server async throws in
                let remote = remote(server) { $0.queryMapping = .brackets }
                #expect(remote.capabilities.contains(.queries))
                let query = QueryBuilder().where("title", isEqualTo: "a b&c").where("priority", isGreaterThan: 2)
                    .where("tags", in: ["x", "y"]).order(by: "priority", descending: true).order(by: "id").limit(to: 5)
                _ = try await remote.getDocuments(query: query)
                #expect(
                    server.requests.map(\.path) == [
                        "/v1/users/7/errands?title=a%20b%26c&priority%5Bgt%5D=2&tags%5Bin%5D=x%2Cy&sort=-priority%2Cid&limit=5"
                    ])
                let list = QueryBuilder().where("tags", in: ["x,y"])
                await #expect(throws: StorageError.self) { _ = try await remote.getDocuments(query: list) }
                let cursor = QueryBuilder().order(by: "id").start(after: ["a"])
                await #expect(throws: StorageError.self) { _ = try await remote.getDocuments(query: cursor) }
                let plain = self.remote(server)
                await #expect(throws: StorageError.self) { _ = try await plain.getDocuments(query: query) }
                #expect(server.requests.count == 1)
            }
        }

        @Test("A body that can't be read is requested again")
        func unreadableBody() async throws {
            try await TestServer.run({ $0.path.hasSuffix("/a") ? .ok("{\"id\":\"a\"}") : .ok("<html>secret") }) {
                server async throws in
                let remote = remote(server)
                for id in ["a", "b"] {
                    let error = await #expect(throws: HTTPRemoteError.self) { _ = try await remote.getDocument(id: id) }
                    #expect(error?.code == .undecodable)
                    #expect(error?.message.contains("secret") == false)
                }
                let error = await #expect(throws: HTTPRemoteError.self) { _ = try await remote.getCollection() }
                #expect(error?.code == .undecodable)
            }
        }

        @Test("Writes are done nowhere else")
        func redirectedWrites() async throws {
            let elsewhere = try LoopbackSocket()
            defer { withExtendedLifetime(elsewhere) {} }
            let answers: @Sendable (TestServer.Request) -> Reply = { request in
                switch request.path {
                case "/v1/users/7/errands/a": .status("307 X", ["Location: /moved"])
                case "/v1/users/7/errands/b": .status("307 X", ["Location: \(elsewhere.origin)/b"])
                case "/v1/users/7/errands/c": .status("301 X", ["Location: /moved"])
                default: .status("204 No Content")
                }
            }
            try await TestServer.run(answers) { server async throws in
                let remote = remote(server)
                try await remote.saveDocument(Errand("a"))
                #expect(server.requests.last?.method == "PUT")
                #expect(server.requests.last?.body == Data(Errand("a").json.utf8))
                for id in ["b", "c"] {
                    let error = await #expect(throws: HTTPRemoteError.self) {
                        try await remote.saveDocument(Errand(id))
                    }
                    #expect(error?.code == .badRedirect)
                }
                #expect(server.requests.count == 4)
            }
        }
    }
#endif
