#if STORAGE_SERVER
    import Foundation
    import GRDB
    import NIOHTTP1
    import TestSupport
    import StorageKit
    import Testing

    @testable import StorageServer
    @testable import StorageSync

    /// Each rule of access, with a request that must fail.
    @Suite(.timeLimit(.minutes(10))) struct AccessTests {
        private let path = "/v1/collections/notes/documents/1"

        @Test("Only valid tokens are accepted")
        func validTokens() async throws {
            try await ServedHub.run { hub in
                let expired = try await hub.token(expiresAt: Date(timeIntervalSinceNow: -1))
                let revoked = try await hub.token()
                let id = try #require(try await hub.tokens.all().last?.id)
                let valid = try await hub.token()
                #expect(try await hub.send(.GET, "/v1/collections", token: revoked).status == 200)
                try await hub.tokens.revoke(id)
                let last = valid.last == "0" ? "1" : "0"
                let others = [nil, "", "x", expired, revoked, valid.dropLast() + last, valid + "0", valid.uppercased()]
                for token in others {
                    for path in ["/v1/collections", "/v1/status", path, "/v1/changes?collection=notes", "/none"] {
                        let answer = try await hub.send(.GET, path, token: token.map { String($0) })
                        #expect(answer.status == 401, "\(path)")
                        #expect(answer.code == "unauthorized", "\(path)")
                        #expect(answer.headers.contains(name: "WWW-Authenticate"))
                    }
                }
                #expect(try await hub.send(.GET, "/v1/collections", token: valid).status == 200)
                #expect(try await hub.send(.GET, "/health", token: nil).status == 200)
            }
        }

        @Test("Grants say what is read and written")
        func grantedAccess() async throws {
            try await ServedHub.run { hub in
                let full = try await hub.token()
                _ = try await hub.send(.PUT, path, token: full, body: #"{"n":1}"#)
                _ = try await hub.send(.PUT, "/v1/collections/secrets/documents/1", token: full, body: #"{"n":1}"#)
                let reader = try await hub.token("reader", [HubGrant(entity: "notes")])
                let writer = try await hub.token("writer", [HubGrant(entity: "notes", reads: false, writes: true)])
                let none = try await hub.token("none", [])
                let requests: [(String, HTTPMethod, String, String?)] = [
                    (reader, .PUT, path, "{}"), (reader, .PATCH, path, "{}"), (reader, .DELETE, path, nil),
                    (reader, .GET, "/v1/collections/secrets/documents/1", nil),
                    (reader, .GET, "/v1/collections/secrets/documents", nil),
                    (reader, .POST, "/v1/collections/secrets/query", "{}"),
                    (reader, .GET, "/v1/changes?collection=secrets", nil), (reader, .GET, "/v1/status", nil),
                    (writer, .GET, path, nil), (writer, .GET, "/v1/collections/notes/documents", nil),
                    (writer, .POST, "/v1/collections/notes/query", "{}"),
                    (writer, .GET, "/v1/changes?collection=notes", nil), (none, .GET, path, nil),
                    (none, .PUT, path, "{}"), (none, .POST, "/v1/sync/hello", #"{"producer":"p","epoch":1}"#),
                ]
                for (token, method, path, body) in requests {
                    let answer = try await hub.send(method, path, token: token, body: body)
                    #expect(answer.status == 403, "\(method) \(path) \(answer.body)")
                    #expect(answer.code == "forbidden", "\(method) \(path) \(answer.body)")
                }
                let producers = try await hub.storage.engine.read { db in
                    try Int.fetchOne(db, sql: "SELECT count(*) FROM hub_producers")
                }
                #expect(producers == 0, "who may do nothing leaves nothing behind")
                let both = try await hub.send(.GET, "/v1/changes?collection=secrets&collection=notes", token: reader)
                let page = try HubPage(json: both.body.utf8).page
                #expect(Set(page.changes.map(\.document.entity)) == ["notes"])
                let seen = try await hub.send(.GET, "/v1/collections", token: reader)
                #expect(
                    try HubCollectionList(json: seen.body.utf8).collections == [
                        .init(name: "notes", reads: true, writes: false)
                    ])
                #expect(try await hub.send(.PATCH, path, token: writer, body: #"{"n":2}"#).status == 200)
            }
        }

        /// Neither answers nor statuses, counts and orders say what is there beside one's own. Positions do say how much was written: they
        /// are those of the whole log, so that followers agree on them.
        @Test("Conditions leak nothing")
        func conditionsLeakNothing() async throws {
            try await ServedHub.run { hub in
                let full = try await hub.token()
                let acme = try await hub.token(
                    "ada", [HubGrant(entity: "notes", writes: true, condition: "state <> 'draft'")],
                    tenant: HubTenant("acme"))
                func put(_ id: String, _ tenant: String, _ state: String, _ token: String) async throws
                    -> ServedHub.Answer
                {
                    try await hub.send(
                        .PUT, "/v1/collections/notes/documents/\(id)", token: token,
                        body: #"{"tenant":"\#(tenant)","state":"\#(state)","n":1}"#)
                }
                for (id, tenant, state) in [("1", "acme", "open"), ("2", "acme", "draft"), ("3", "other", "open")] {
                    #expect(try await put(id, tenant, state, full).status == 201)
                }
                for id in ["2", "3", "4"] {
                    let path = "/v1/collections/notes/documents/\(id)"
                    let read = try await hub.send(.GET, path, token: acme)
                    let missing = try await hub.send(.GET, "/v1/collections/notes/documents/9", token: acme)
                    #expect(read.status == 404)
                    #expect(read.body == missing.body)
                    #expect(try await hub.send(.PATCH, path, token: acme, body: #"{"n":2}"#).status == 404)
                    #expect(try await hub.send(.DELETE, path, token: acme).status == 204)
                    let matched = try await hub.send(
                        .PATCH, path, token: acme, body: #"{"n":2}"#, headers: ["If-Match": "\"1\""])
                    #expect(matched.status == 412)
                }
                let list = try await hub.send(.GET, "/v1/collections/notes/documents?limit=1", token: acme)
                let documents = try HubDocumentPage(json: list.body.utf8)
                #expect(documents.documents.map(\.id) == ["1"])
                #expect(!documents.hasMore)
                let query = try await hub.send(
                    .POST, "/v1/collections/notes/query", token: acme,
                    body: #"{"orders":[{"field":"n"}],"limit":10}"#)
                #expect(try HubDocumentPage(json: query.body.utf8).documents.map(\.id) == ["1"])
                let changes = try await hub.send(.GET, "/v1/changes?collection=notes", token: acme)
                #expect(try HubPage(json: changes.body.utf8).page.changes.map(\.document.id) == ["1"])
                #expect(try await put("5", "other", "open", acme).status == 422, "for another tenant")
                #expect(try await put("5", "acme", "draft", acme).status == 422, "out of its own sight")
                #expect(try await put("3", "acme", "open", acme).status == 422, "over another's")
                let stolen = try await hub.send(
                    .PATCH, "/v1/collections/notes/documents/1", token: acme, body: #"{"tenant":"other"}"#)
                #expect(stolen.status == 422)
                let all = try await hub.send(.GET, "/v1/collections/notes/documents", token: full)
                #expect(
                    try HubDocumentPage(json: all.body.utf8).documents.map { $0.fields["tenant"] } == [
                        #""acme""#, #""acme""#, #""other""#,
                    ])
            }
        }

        @Test("Administration is a grant of its own")
        func administration() async throws {
            try await ServedHub.run { hub in
                let administrator = try await hub.token("ops", [], administers: true)
                var events = try await hub.events("/v1/changes?collection=notes", token: try await hub.token())
                #expect(try await events.next() != nil)
                let status = try await hub.send(.GET, "/v1/status", token: administrator)
                #expect(status.status == 200, "\(status.body)")
                #expect(status.body.contains(#""streams":1"#), "\(status.body)")
                #expect(try await hub.send(.GET, path, token: administrator).status == 403, "it reads no documents")
            }
        }

        @Test("A store that can't be read isn't healthy")
        func unreadableStore() async throws {
            try await ServedHub.run { hub in
                #expect(try await hub.send(.GET, "/health", token: nil).status == 200)
                try await hub.storage.close()
                let health = try await hub.send(.GET, "/health", token: nil)
                #expect(health.status == 503)
                #expect(health.code == "unavailable")
                #expect(health.headers.first(name: "Retry-After") != nil)
            }
        }

        /// A producer belongs to the token's name: nobody sends under the name of another's.
        @Test("Producers are the token's own")
        func producersOfToken() async throws {
            try await ServedHub.run { hub in
                let (anna, bob) = (try await hub.token("anna"), try await hub.token("bob"))
                let hello = #"{"producer":"p","epoch":1}"#
                let welcome = try SyncWelcome(
                    json: try await hub.send(.POST, "/v1/sync/hello", token: anna, body: hello).body.utf8)
                let line = try #require(welcome.lines.last?.id)
                let batch = HubBatch(
                    producer: ProducerID("p"), epoch: 1, line: line, firstNumber: 1,
                    writes: [
                        HubWrite(
                            origin: 1, document: DocumentID(entity: "notes", id: "1"),
                            operation: .save(["n": .text("1")]),
                            base: 0)
                    ])
                let body = String(decoding: batch.json, as: UTF8.self)
                let stolen = try await hub.send(.POST, "/v1/sync/push", token: bob, body: body)
                #expect(stolen.status == 409)
                #expect(stolen.code == "session-ended")
                let pushed = try await hub.send(.POST, "/v1/sync/push", token: anna, body: body)
                #expect(pushed.status == 200, "\(pushed.body)")
                #expect(try HubResults(json: pushed.body.utf8).results.count == 1)
                let again = try await hub.token("anna")
                let lost = try await hub.send(.POST, "/v1/sync/push", token: again, body: body)
                #expect(lost.body == pushed.body, "a new token of the same name goes on")
                let commits = try await hub.storage.changes(since: .position(0), limit: 100).commits
                #expect(
                    commits.filter { $0.events.contains { $0.table == "notes" } }.map(\.commit.metadata.actor) == [
                        "anna"
                    ])
            }
        }

        @Test("Other writes under used numbers get a problem of their own")
        func reusedNumbers() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let hello = #"{"producer":"p","epoch":1}"#
                let welcome = try SyncWelcome(
                    json: try await hub.send(.POST, "/v1/sync/hello", token: token, body: hello).body.utf8)
                let line = try #require(welcome.lines.last?.id)
                func push(_ id: String) async throws -> ServedHub.Answer {
                    let write = HubWrite(
                        origin: 1, document: DocumentID(entity: "notes", id: id), operation: .save([:]), base: 0)
                    let batch = HubBatch(
                        producer: ProducerID("p"), epoch: 1, line: line, firstNumber: 1, writes: [write])
                    return try await hub.send(
                        .POST, "/v1/sync/push", token: token, body: String(decoding: batch.json, as: UTF8.self))
                }
                #expect(try await push("1").status == 200)
                let other = try await push("2")
                #expect(other.status == 409)
                #expect(other.code == "number-reused")
                #expect(try await push("1").status == 200)
            }
        }

        /// A client that continues with another token of the same name learns whether it sees other documents.
        @Test("A hello says whether the access is the same")
        func accessFingerprint() async throws {
            try await ServedHub.run { hub in
                var found: [String?] = []
                for condition in [nil, "n > 1", "n > 2", "n > 1"] {
                    let token = try await hub.token(
                        "anna", [HubGrant(entity: "notes", writes: true, condition: condition)])
                    let body = #"{"producer":"p","epoch":\#(found.count + 1)}"#
                    let answer = try await hub.send(.POST, "/v1/sync/hello", token: token, body: body)
                    found.append(try SyncWelcome(json: answer.body.utf8).access)
                }
                #expect(Set(found).count == 3)
                #expect(found[1] == found[3])
                #expect(!found.contains(nil))
            }
        }

        @Test("Revocation ends streams")
        func revocationEndsStreams() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let id = try #require(try await hub.tokens.all().first?.id)
                var events = try await hub.events("/v1/changes?collection=notes", token: token)
                #expect(try await events.next()?.name == "page")
                try await hub.tokens.revoke(id)
                let full = try await hub.token("bob")
                _ = try await hub.send(.PUT, path, token: full, body: #"{"n":1}"#)
                var last = try await events.next()
                // What was asked for before the revocation may still come.
                if last?.name == "page" { last = try await events.next() }
                #expect(last?.name == "problem")
                #expect(last?.data.contains("unauthorized") == true)
                #expect(try await events.next() == nil)
            }
        }

        @Test("Secrets are stored hashed")
        func hashedSecrets() async throws {
            let directory = try TemporaryFolder()
            let store = directory.path("app.sqlite")
            let tokens = try HubTokenFile(besideStore: store)
            let (token, text) = try await tokens.create(name: "anna", grants: [HubGrant(entity: nil)])
            let secret = try #require(text.split(separator: "_").last)
            let files = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
            for file in files {
                let bytes = try Data(contentsOf: directory.url.appending(path: file))
                #expect(bytes.range(of: Data(secret.utf8)) == nil)
                let attributes = try FileManager.default.attributesOfItem(atPath: directory.path(file))
                #expect(attributes[.posixPermissions] as? Int == 0o600, "\(file)")
            }
            // As the tool does, beside a server that has the file open.
            let other = try HubTokenFile(besideStore: store)
            #expect(try await other.authenticate(text) == token)
            for second in 0..<100 {
                let now = Date(timeIntervalSinceReferenceDate: 800_000_000 + Double(second) / 7)
                let (token, text) = try await tokens.create(name: "bob", grants: [], expiresAt: now + 90, now: now)
                #expect(try await other.authenticate(text, now: now) == token)
            }
            try await other.revoke(token.id)
            #expect(try await tokens.authenticate(text) == nil)
        }
    }

#endif
