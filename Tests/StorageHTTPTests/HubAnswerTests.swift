#if STORAGE_HTTP
    import Foundation
    import NIOHTTP1
    import StorageCore
    import StorageKit
    import StorageSync
    import TestSupport
    import Testing

    @testable import StorageHTTP

    /// What each answer of a hub, or of whatever stands before it, means for a batch: the table of the page about hubs.
    @Suite(.timeLimit(.minutes(10))) struct HubAnswerTests {
        struct Case: CustomTestStringConvertible, Sendable {
            let name: String
            let reply: Reply
            let failure: SyncFailure

            init(_ name: String, _ reply: Reply, _ failure: SyncFailure) {
                (self.name, self.reply, self.failure) = (name, reply, failure)
            }

            var testDescription: String { name }
        }

        private static func problem(_ code: HubProblem.Code, _ headers: [String] = [], epoch: Int64? = nil) -> Reply {
            let problem = HubProblem(code, "Because.", epoch: epoch)
            return .status("\(problem.status) Problem", headers, body: String(decoding: problem.json, as: UTF8.self))
        }

        private static let parked = SyncFailure.refused(.invalid("Because."))
        private static let again = SyncFailure.retryable(afterMicroseconds: nil)
        private static let page = "<html>Bad request</html>"

        nonisolated private static let cases = [
            Case("unauthorized", problem(.unauthorized), .unauthorized),
            Case("forbidden", problem(.forbidden), .unauthorized),
            Case("a proxy's 401", .status("401 Unauthorized", body: page), .unauthorized),
            Case("session ended", problem(.sessionEnded), .sessionEnded(epoch: nil)),
            Case("session ended by another", problem(.sessionEnded, epoch: 7), .sessionEnded(epoch: 7)),
            Case("numbers used for other writes", problem(.numberReused), .numberReused),
            Case("another conflict", .status("409 Conflict", body: page), again),
            Case("malformed", problem(.malformed), parked),
            Case("too large", problem(.tooLarge), parked),
            Case("unsupported media type", problem(.unsupportedMediaType), parked),
            Case("invalid", problem(.invalid), parked),
            Case("a proxy's 400", .status("400 Bad Request", body: page), again),
            Case("a proxy's 413", .status("413 Content Too Large", body: page), again),
            Case("a proxy's 404", .status("404 Not Found", body: page), again),
            Case("timed out", problem(.timedOut), again),
            Case("misdirected", problem(.misdirected), again),
            Case(
                "too many requests", problem(.tooManyRequests, ["Retry-After: 7"]),
                .retryable(afterMicroseconds: 7_000_000)),
            Case(
                "too many for a year", problem(.tooManyRequests, ["Retry-After: 31536000"]),
                .retryable(afterMicroseconds: 86_400_000_000)),
            Case("failed", problem(.failed), again),
            Case("unavailable", problem(.unavailable, ["Retry-After: 2"]), .retryable(afterMicroseconds: 2_000_000)),
            Case("a proxy's 502", .status("502 Bad Gateway", body: page), again),
            Case("another's page", .ok(page), again),
            Case("cut off", .raw("200 OK", ["Content-Length: 100"], body: "{", end: .close), again),
            Case("no answer", Reply(bytes: "", end: .close), again),
        ]

        private let batch = HubBatch(
            producer: ProducerID("p"), epoch: 1, line: Array(repeating: 1, count: 16), firstNumber: 1,
            writes: [
                HubWrite(origin: 1, document: DocumentID(entity: "notes", id: "1"), operation: .delete, base: 0)
            ])

        @Test("An answer means one thing", arguments: cases)
        func answers(_ the: Case) async throws {
            let reply = the.reply
            try await TestServer.run({ _ in reply }) { server in
                let hub = HTTPHubClient(url: server.origin + "/", token: { "t" }, client: server.client)
                let failure = await #expect(throws: SyncFailure.self) { try await hub.push(batch, as: .full) }
                if case .retryable(let delay, let reason) = failure {
                    #expect(the.failure == .retryable(afterMicroseconds: delay))
                    #expect(reason?.contains(server.origin) == true)
                } else {
                    #expect(failure == the.failure)
                }
                #expect(server.requests.first?.headers.first(name: "Authorization") == "Bearer t")
            }
        }

        @Test("The status of an engine says why a hub doesn't answer")
        @MainActor func statusSaysWhy() async throws {
            let cases: [(Reply, String)] = [
                (Self.problem(.failed), "answers 500 Internal Server Error. Because."),
                (.status("404 Not Found", body: Self.page), "/v1/sync/hello answers 404 Not Found."),
                (Reply(bytes: "", end: .close), "ended the connection"), (.ok(Self.page), "isn't a hub's"),
            ]
            for (reply, reason) in cases {
                try await TestServer.run({ _ in reply }) { server in
                    try await expectStatus(reason, of: Hub(server.origin, client: server.client, token: "t"))
                }
            }
            let socket = try LoopbackSocket()
            try await expectStatus("Connection refused", of: Hub(socket.origin, token: "t"))
            withExtendedLifetime(socket) {}
        }

        @MainActor private func expectStatus(_ reason: String, of hub: Hub) async throws {
            let container = try PersistenceContainer.inMemory { _ in }
            let engine = withDatabaseContainer(container) {
                CollectionSyncEngine<Memo>(remote: hub.collection("notes"), managerKey: "notes")
            }
            try await engine.saveDocument(Memo(id: "1"))
            try await eventually { engine.status.lastError?.contains(reason) == true }
            try await container.storage.close()
        }

        @Test("A missing document isn't found")
        func missingDocument() async throws {
            try await TestServer.run({ _ in Self.problem(.notFound) }) { server in
                let hub = HTTPHubClient(url: server.origin + "/", token: { "t" }, client: server.client)
                await #expect(throws: RemoteError.notFound) {
                    try await hub.read("v1/collections/notes/documents/1", as: HubDocument.self)
                }
            }
        }

        nonisolated private static let errors: [(Reply, RemoteError)] = [
            (problem(.forbidden), .unauthorized), (problem(.invalid), .rejected("Because.")),
            (problem(.unavailable, ["Retry-After: 2"]), .unavailable(retryAfter: .seconds(2))),
            (problem(.notFound), .notFound), (.status("502 Bad Gateway", body: page), .unavailable()),
        ]

        /// The protocol's failures aren't public.
        @Test("A collection reports the errors of a remote", arguments: errors)
        @MainActor func collectionErrors(reply: Reply, error: RemoteError) async throws {
            try await TestServer.run({ _ in reply }) { server in
                let hub = HTTPHubClient(url: server.origin + "/", token: { "t" }, client: server.client)
                let notes = HubCollection<Memo>("notes", of: hub, account: { "anna" })
                await #expect(throws: error) { try await notes.getDocument(id: "1") }
                await #expect(throws: error) { try await notes.saveDocument(Memo(id: "1")) }
            }
        }

        private struct Memo: DataSyncModelProtocol {
            var id: String
        }

        private static func change(_ id: String, _ operation: WriteOperation, at position: Int64) -> RemoteChange {
            RemoteChange(
                position: position, document: DocumentID(entity: "notes", id: id), operation: operation, ownOrigin: nil)
        }

        private static func changes(_ changes: [RemoteChange] = [], in positions: Range<Int64>) -> Reply {
            let page = HubPage(
                line: Array(repeating: 1, count: 16),
                page: SyncPage(start: positions.lowerBound, end: positions.upperBound, changes: changes))
            return .ok(String(decoding: page.json, as: UTF8.self))
        }

        /// What another client commits while the streams still make their first requests.
        @Test("The streams of a collection miss nothing after the call")
        @MainActor func streamsFromTheCallOn() async throws {
            let present = """
                {"line":"\(String(repeating: "01", count: 16))","position":5,"documents":[{"id":"a","version":5,"fields":{}}]}
                """
            let saved = WriteOperation.save([:])
            try await TestServer.run({ request in
                if request.path.contains("/documents") { return .ok(present) }
                if request.path.contains("after=0&") {
                    return Self.changes([Self.change("a", saved, at: 5)], in: 0..<5)
                }
                if request.path.contains("after=5&") {
                    return Self.changes([Self.change("b", saved, at: 6), Self.change("c", .delete, at: 7)], in: 5..<7)
                }
                guard request.path.contains("after=7&") else { return .silence }
                guard request.path.contains("wait=") else { return Self.changes(in: 7..<7) }
                return Self.changes([Self.change("d", saved, at: 8), Self.change("e", .delete, at: 9)], in: 7..<9)
            }) { server in
                let hub = HTTPHubClient(url: server.origin + "/", token: { "t" }, client: server.client)
                let notes = HubCollection<Memo>("notes", of: hub, account: { "anna" })
                let streams = notes.streamCollectionUpdates()
                var updates = streams.updates.makeAsyncIterator()
                var deletions = streams.deletions.makeAsyncIterator()
                let saved = [try await updates.next()?.id, try await updates.next()?.id]
                let deleted = [try await deletions.next(), try await deletions.next()]
                #expect(saved == ["b", "d"])
                #expect(deleted == ["c", "e"])
            }
        }

        @Test("An answer may take long as long as it keeps arriving")
        func slowAnswer() async throws {
            let page = Self.changes([Self.change("a", .save([:]), at: 1)], in: 0..<1).inPieces(8)
            try await TestServer.run({ _ in page }) { server in
                let hub = HTTPHubClient(
                    url: server.origin + "/", token: { "t" }, client: server.client, timeout: .seconds(5))
                let pull = HubPull(behind: 0, of: ["notes"])
                var ids: [String] = []
                // On a busy machine, a piece may take longer than is waited for it, but not each time.
                for _ in 0..<3 where ids.isEmpty {
                    ids = (try? await hub.pull(pull, as: .full).changes.map(\.document.id)) ?? []
                }
                #expect(ids == ["a"])
            }
        }

        @Test("An answer that stops in its middle is given up")
        func stoppedAnswer() async throws {
            let reply = Reply.raw("200 OK", ["Content-Length: 100"], body: "{", end: .hold)
            try await TestServer.run({ _ in reply }) { server in
                let hub = HTTPHubClient(
                    url: server.origin + "/", token: { "t" }, client: server.client, timeout: .milliseconds(300))
                let failure = await #expect(throws: SyncFailure.self) { try await hub.push(batch, as: .full) }
                #expect(failure?.description.contains("hasn't sent anything for 0.3 s") == true)
            }
        }

        @Test("Without a token nothing is sent")
        func missingToken() async throws {
            try await TestServer.run({ _ in .ok("{}") }) { server in
                let hub = HTTPHubClient(url: server.origin + "/", token: { nil }, client: server.client)
                await #expect(throws: SyncFailure.unauthorized) { try await hub.push(batch, as: .full) }
                #expect(server.requests.isEmpty)
            }
        }
    }
#endif
