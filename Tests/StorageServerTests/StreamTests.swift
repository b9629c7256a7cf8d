#if STORAGE_SERVER
    import Foundation
    import NIOHTTP1
    import TestSupport
    import ServiceLifecycle
    import Testing

    @testable import StorageServer
    @testable import StorageSync

    /// Streams of changes.
    @Suite(.timeLimit(.minutes(10))) struct StreamTests {
        private func put(_ hub: ServedHub, _ id: Int, _ n: Int, _ token: String) async throws {
            let answer = try await hub.send(
                .PUT, "/v1/collections/notes/documents/\(id)", token: token, body: #"{"n":\#(n)}"#)
            #expect(answer.status < 300, "\(answer.body)")
        }

        @Test("A stream continues and resumes")
        func resuming() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                try await put(hub, 1, 1, token)
                var events = try await hub.events("/v1/changes?collection=notes", token: token)
                let first = try #require(try await events.next())
                #expect(try first.page.page.changes.map(\.document.id) == ["1"])
                for number in 2...5 {
                    try await put(hub, number, number, token)
                    let event = try #require(try await events.next())
                    #expect(try event.page.page.changes.map(\.document.id) == ["\(number)"])
                    #expect(event.id != nil)
                }
                // From the first event on, as a client does whose connection was cut.
                var again = try await hub.events(
                    "/v1/changes?collection=notes", token: token, headers: ["Last-Event-ID": try #require(first.id)])
                #expect(try await again.next()?.page.page.changes.map(\.document.id) == ["2", "3", "4", "5"])
                // Where it doesn't matter, too: its sender has lost the position.
                let other = try await hub.send(
                    .GET, "/v1/changes?collection=notes", token: token, headers: ["Last-Event-ID": "0"])
                #expect(other.status == 400)
            }
        }

        /// An event has its data on one line, whatever SQL has written.
        @Test("A value on several lines is sent on one", arguments: ["[3,\n4]", "[3,\r4]", "[ 3,\r\n\t4 ]"])
        func valuesOnSeveralLines(json: String) async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let path = "/v1/collections/notes/documents/1"
                _ = try await hub.send(.PUT, path, token: token, body: #"{"j":[1,2]}"#)
                _ = try await hub.storage.write { tx in
                    try tx.database.execute(sql: "UPDATE notes SET j = ?", arguments: [json])
                }
                var changes = try await hub.events("/v1/changes?collection=notes&follow=false", token: token)
                let change = try #require(try await changes.next()?.page.page.changes.first)
                #expect(change.operation == .save(["id": .text(#""1""#), "j": .text("[3,4]")]))
                var live = try await hub.events("/v1/collections/notes/query", token: token, body: "{}")
                let snapshot = try #require(try await live.next())
                #expect(try HubSnapshot(json: snapshot.data.utf8).documents.first?.fields["j"] == "[3,4]")
                // What was shown is sent back.
                let read = try await hub.send(.GET, path, token: token)
                let again = try await hub.send(.PUT, path, token: token, body: #"{"j":[3,4]}"#)
                #expect(again.headers.first(name: "ETag") == read.headers.first(name: "ETag"))
            }
        }

        @Test("A stream ends on request")
        func endOnRequest() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                for number in 1...5 { try await put(hub, number, number, token) }
                var events = try await hub.events(
                    "/v1/changes?collection=notes&follow=false&limit=2", token: token)
                var ids: [String] = []
                while let event = try await events.next(), event.name == "page" {
                    ids += try event.page.page.changes.map(\.document.id)
                }
                #expect(ids == ["1", "2", "3", "4", "5"])
            }
        }

        @Test(
            "A stream is sent to those who accept one",
            arguments: [
                ("Text/Event-Stream", true), ("application/json, text/event-stream;charset=utf-8; q=0.5", true),
                ("text/event-stream;q=0", false), ("text/event-stream; Q=0.0, */*", false),
                ("text/event-streams", false), ("*/*", false),
            ])
        func acceptedStreams(accept: String, isStream: Bool) async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let answer = try await hub.send(
                    .GET, "/v1/changes?collection=notes&follow=false", token: token, headers: ["Accept": accept])
                let type = answer.headers.first(name: "Content-Type") ?? ""
                #expect(type.hasPrefix("text/event-stream") == isStream, "\(type)")
            }
        }

        /// Also where a page's worth of changes concerns others.
        @Test("A stream ends when all is sent")
        func endWhenAllIsSent() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                try await put(hub, 0, 1, token)
                let one = try await hub.token("one", [HubGrant(entity: "notes", condition: "n = 1")])
                var first = try await hub.events("/v1/changes?collection=notes&follow=false", token: one)
                let id = try #require(try await first.next()?.id)
                for number in 1...9 { try await put(hub, number, 2, token) }
                try await put(hub, 10, 1, token)
                var events = try await hub.events(
                    "/v1/changes?collection=notes&follow=false&limit=2", token: one, headers: ["Last-Event-ID": id])
                var ids: [String] = []
                while let event = try await events.next(), event.name == "page" {
                    ids += try event.page.page.changes.map(\.document.id)
                }
                #expect(ids == ["10"])
            }
        }

        /// A stream lives long, and its first page has a whole collection.
        @Test("The first page is released when it is sent")
        func firstPageIsReleased() async throws {
            try await ServedHub.run { hub in
                _ = try await hub.token()
                let token = try #require(try await hub.tokens.all().first)
                let store = try await StoreHub(hub.storage)
                let stream = try await ServerSentChanges(
                    of: store, query: HubChangesQuery(HubPull(behind: 0, of: ["notes"])), access: .full, token: token,
                    tokens: hub.tokens)
                var events = stream.makeAsyncIterator()
                #expect(stream.hasFirstPage)
                #expect(try await events.next() != nil)
                #expect(!stream.hasFirstPage)
                store.stop()
            }
        }

        /// What comes after the revocation isn't sent, though it was asked for before.
        @Test("Nothing is sent after a revocation")
        func revocation() async throws {
            try await ServedHub.run { hub in
                let (token, full) = (try await hub.token(), try await hub.token("bob", administers: true))
                let id = try #require(try await hub.tokens.all().first { $0.name == "anna" }?.id)
                var events = try await hub.events("/v1/changes?collection=notes", token: token)
                #expect(try await events.next()?.name == "page")
                try await put(hub, 1, 1, full)
                #expect(try await events.next()?.name == "page")
                let page = try HubPage(
                    json: try await hub.send(.GET, "/v1/changes?collection=notes", token: full).body.utf8)
                var pull = HubPull(behind: page.page.end, of: ["notes"])
                (pull.line, pull.wait) = (page.line, .seconds(20))
                let path = "/v1/changes?\(HubChangesQuery(pull).items.text)"
                async let waiting = hub.send(.GET, path, token: token)
                try await eventually {
                    try await hub.send(.GET, "/v1/status", token: full).body.contains(#""waiting":2"#)
                }
                try await hub.tokens.revoke(id)
                try await put(hub, 2, 1, full)
                #expect(try await waiting.code == "unauthorized")
                let last = try #require(try await events.next())
                #expect(last.name == "problem")
                #expect(last.data.contains("unauthorized"))
                #expect(try await events.next() == nil)
            }
        }

        @Test("A waiting pull is answered by a change")
        func waitingPull() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                try await put(hub, 1, 1, token)
                let page = try HubPage(
                    json: try await hub.send(.GET, "/v1/changes?collection=notes", token: token).body.utf8)
                let query = HubChangesQuery(
                    {
                        var pull = HubPull(behind: page.page.end, of: ["notes"])
                        pull.line = page.line
                        pull.wait = .seconds(20)
                        return pull
                    }())
                async let waiting = hub.send(.GET, "/v1/changes?\(query.items.text)", token: token)
                let full = try await hub.token("bob", administers: true)
                try await eventually {
                    try await hub.send(.GET, "/v1/status", token: full).body.contains(#""waiting":1"#)
                }
                try await put(hub, 2, 2, token)
                let changes = try HubPage(json: try await waiting.body.utf8).page.changes
                #expect(changes.map(\.document.id) == ["2"])
            }
        }

        @Test("A stream ends with the server")
        func endWithServer() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                var events = try await hub.events("/v1/changes?collection=notes", token: token)
                #expect(try await events.next()?.name == "page")
                await hub.group.triggerGracefulShutdown()
                #expect(try await events.next()?.name == "end")
                #expect(try await events.next() == nil)
            }
        }

        /// However much it has not sent yet: its client resumes where it was.
        @Test("A stream that is behind ends with the server", arguments: [true, false])
        func behindAtShutdown(follows: Bool) async throws {
            try await ServedHub.run { hub in
                let full = try await hub.token()
                for number in 1...5 { try await put(hub, number, number, full) }
                let token = try #require(try await hub.tokens.all().first)
                let store = try await StoreHub(hub.storage)
                var query = HubChangesQuery(HubPull(behind: 0, of: ["notes"]))
                (query.pull.limit, query.follows) = (2, follows)
                var events = try await ServerSentChanges(
                    of: store, query: query, access: .full, token: token, tokens: hub.tokens
                ).makeAsyncIterator()
                #expect(try await events.next() != nil)
                store.stop()
                var rest: [String] = []
                while let event = try await events.next() { rest.append(String(decoding: event, as: UTF8.self)) }
                // One that has asked for all there is gets it.
                #expect(rest.map { $0.hasPrefix("event: end") } == (follows ? [true] : [false, false, true]))
            }
        }

        @Test("A history that isn't the hub's is refused")
        func anotherHistory() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let line = String(repeating: "0", count: 32)
                for query in ["after=1", "after=0&line=\(line)", "after=99999"] {
                    let answer = try await hub.send(.GET, "/v1/changes?collection=notes&\(query)", token: token)
                    #expect(answer.status == 409, "\(query)")
                    #expect(answer.code == "session-ended", "\(query)")
                    #expect(answer.body.contains("without Last-Event-ID"), "\(answer.body)")
                }
                for query in ["after=-1", "limit=0", "line=x", "after=x", "after=1&after=2", "wait=%zz"] {
                    let answer = try await hub.send(.GET, "/v1/changes?collection=notes&\(query)", token: token)
                    #expect(answer.status == 400, "\(query)")
                    #expect(answer.code == "malformed", "\(query)")
                }
            }
        }
    }
#endif
