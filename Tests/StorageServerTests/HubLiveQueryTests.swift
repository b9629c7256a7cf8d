#if STORAGE_SERVER
    import Foundation
    import NIOHTTP1
    import ServiceLifecycle
    import StorageTesting
    import Testing
    import TestSupport

    @testable import StorageServer
    @testable import StorageSync

    /// Live queries over server-sent events.
    @Suite(.timeLimit(.minutes(10))) struct HubLiveQueryTests {
        private static let open =
            #"{"filters":[{"field":"done","operator":"==","value":false}],"orders":[{"field":"rank"}]}"#
        private static let firstThree = #"{"orders":[{"field":"rank"}],"limit":3}"#
        private static let lastThree = #"{"orders":[{"field":"rank"}],"limitToLast":3}"#

        private static let manyFirst = #"{"orders":[{"field":"rank"}],"limit":9007199254740991}"#
        private static let manyLast = #"{"orders":[{"field":"rank"}],"limitToLast":9007199254740991}"#

        private static func put(
            _ hub: ServedHub, _ id: String, rank: Double, done: Bool = false, _ token: String, more: String = ""
        ) async throws {
            let answer = try await hub.send(
                .PUT, "/v1/collections/notes/documents/\(id)", token: token,
                body: #"{"rank":\#(rank),"done":\#(done)\#(more)}"#)
            try #require(answer.status < 300, "\(answer.body)")
        }

        private static func delete(_ hub: ServedHub, _ id: String, _ token: String) async throws {
            let answer = try await hub.send(.DELETE, "/v1/collections/notes/documents/\(id)", token: token)
            try #require(answer.status == 204, "\(answer.body)")
        }

        @Test("A snapshot, then differences", arguments: [open, firstThree, lastThree, manyFirst, manyLast])
        func following(query: String) async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                for rank in 1...5 { try await Self.put(hub, "n\(rank)", rank: Double(rank), token, more: #","n":1"#) }
                var events = try await hub.live(query, token: token)
                let first = try #require(try await events.next())
                #expect(first.name == "snapshot")
                var result = LiveResult()
                try result.apply(first)
                #expect(result == (try await hub.result(of: query, token: token)))
                var count = 0
                func expect() async throws {
                    let expected = try await hub.result(of: query, token: token)
                    // What isn't shown isn't sent.
                    guard result != expected else { return }
                    var event = try #require(try await events.next())
                    // If a change that isn't shown takes long, its position is sent alone.
                    while event.name == "position" { event = try #require(try await events.next()) }
                    #expect(event.name == "difference")
                    try result.apply(event)
                    #expect(result.documents == expected.documents)
                    #expect(result.position == expected.position)
                    count += 1
                }
                // At either end: inserted, updated, moved, and gone.
                for rank in [0.5, 9.5] {
                    try await Self.put(hub, "x\(rank)", rank: rank, token)
                    try await expect()
                    try await Self.put(hub, "x\(rank)", rank: rank, token, more: #","n":2"#)
                    try await expect()
                    try await Self.put(hub, "x\(rank)", rank: 3.5, token)
                    try await expect()
                    try await Self.put(hub, "x\(rank)", rank: 3.5, done: true, token)
                    try await expect()
                    try await Self.delete(hub, "x\(rank)", token)
                    try await expect()
                }
                try await Self.put(hub, "n1", rank: 8, token)
                try await expect()
                try await Self.delete(hub, "n5", token)
                try await expect()
                #expect(count > 3)
            }
        }

        @Test("A lost connection gets what it missed as one difference")
        func resuming() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                for rank in 1...5 { try await Self.put(hub, "n\(rank)", rank: Double(rank), token, more: #","n":1"#) }
                var result = LiveResult()
                var events = try await hub.live(Self.open, token: token)
                try result.apply(try #require(try await events.next()))
                // Missed: an insertion, an update, a deletion, a move, a document that has come and gone, and one that
                // meets the condition no more.
                try await Self.put(hub, "n6", rank: 2.5, token)
                try await Self.put(hub, "n1", rank: 1, token, more: #","n":2"#)
                try await Self.delete(hub, "n2", token)
                try await Self.put(hub, "n5", rank: 0, token)
                try await Self.put(hub, "n7", rank: 7, token)
                try await Self.delete(hub, "n7", token)
                try await Self.put(hub, "n4", rank: 4, done: true, token)
                let expected = try await hub.result(of: Self.open, token: token)
                var again = try await hub.live(Self.open, token: token, after: result.id)
                let missed = try #require(try await again.next())
                #expect(missed.name == "difference")
                try result.apply(missed)
                #expect(result.documents == expected.documents)
                #expect(result.position == expected.position)
                #expect(result.stepCount == 5, "one step for each document that is shown otherwise")
                // And then what follows.
                try await Self.put(hub, "n8", rank: 8, token)
                try result.apply(try #require(try await again.next()))
                #expect(result == (try await hub.result(of: Self.open, token: token)))
                // Whoever has missed nothing receives nothing but what follows.
                var third = try await hub.live(Self.open, token: token, after: result.id)
                try await Self.put(hub, "n9", rank: 9, token)
                let next = try #require(try await third.next())
                #expect(next.name == "difference")
                try result.apply(next)
                #expect(result.stepCount == 1)
            }
        }

        @Test("A follower resumes after a restart of the server", arguments: [open, firstThree, lastThree])
        func restart(query: String) async throws {
            let store = try TemporaryStore()
            let tokens = try HubTokenFile(besideStore: ":memory:")
            let token = try await tokens.create(name: "anna", grants: [HubGrant(entity: nil, writes: true)]).text
            let (results, continuation) = AsyncStream.makeStream(of: LiveResult.self)
            try await ServedHub.run(on: store, tokens) { hub in
                for rank in 1...6 { try await Self.put(hub, "n\(rank)", rank: Double(rank), token) }
                var result = LiveResult()
                var events = try await hub.live(query, token: token)
                try result.apply(try #require(try await events.next()))
                continuation.yield(result)
                try await Self.put(hub, "n1", rank: 8, token)
                try await Self.delete(hub, "n6", token)
            }
            try await store.reopen()
            var known = results.makeAsyncIterator()
            let before = try #require(await known.next())
            try await ServedHub.run(on: store, tokens) { hub in
                var result = before
                try await Self.put(hub, "n0", rank: 0, token)
                var events = try await hub.live(query, token: token, after: before.id)
                let missed = try #require(try await events.next())
                #expect(missed.name == "difference")
                try result.apply(missed)
                #expect(result == (try await hub.result(of: query, token: token)))
            }
        }

        @Test("A collection that doesn't exist is followed once it does")
        func missingCollection() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                var result = LiveResult()
                var events = try await hub.live("{}", token: token)
                try result.apply(try #require(try await events.next()))
                #expect(result.documents.isEmpty)
                try await Self.put(hub, "a", rank: 1, token)
                try await events.apply(to: &result) { $0.ids == ["a"] }
                try await Self.put(hub, "b", rank: 1, token)
                try await events.apply(to: &result) { $0.ids == ["a", "b"] }
            }
        }

        @Test("A live query is refused with a reason")
        func refusals() async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                let path = "/v1/collections/notes/query"
                func ask(_ body: String, _ token: String, _ headers: [String: String] = [:]) async throws
                    -> ServedHub.Answer
                {
                    try await hub.send(
                        .POST, path, token: token, body: body,
                        headers: headers.merging(["Accept": "text/event-stream"]) { one, _ in one })
                }
                // The form of a header doesn't depend on whether the answer is a stream.
                let once = ["Accept": "application/json", "Last-Event-ID": ""]
                let other = try await hub.token("none", [HubGrant(entity: "other")])
                for (answer, status, code) in [
                    (try await ask("{}", other), 403, "forbidden"),
                    (try await ask("{}", "sk_none"), 401, "unauthorized"),
                    (try await ask("{", token), 400, "malformed"),
                    (try await ask(#"{"limit":0}"#, token), 422, "invalid"),
                    (try await ask(#"{"limitToLast":1}"#, token), 422, "invalid"),
                    (try await ask("{}", token, ["Last-Event-ID": "12"]), 400, "malformed"),
                    (try await ask("{}", token, ["Last-Event-ID": "1.1.1.00-x"]), 400, "malformed"),
                    (try await ask("{}", token, once), 400, "malformed"),
                ] {
                    #expect(answer.status == status, "\(answer.body)")
                    #expect(answer.code == code)
                    #expect(answer.headers.first(name: "Content-Type") == "application/problem+json")
                }
            }
        }

        @Test("A condition hides changes, too")
        func hidden() async throws {
            try await ServedHub.run { hub in
                let full = try await hub.token()
                let ada = try await hub.token("ada", [HubGrant(entity: "notes", condition: "owner = 'ada'")])
                func put(_ id: String, _ owner: String) async throws {
                    try await Self.put(hub, id, rank: 1, full, more: #","owner":"\#(owner)""#)
                }
                try await put("a", "ada")
                try await put("b", "bob")
                var result = LiveResult()
                var events = try await hub.live("{}", token: ada)
                try result.apply(try #require(try await events.next()))
                #expect(result.ids == ["a"])
                try await put("b", "bea")
                try await put("c", "bob")
                try await Self.delete(hub, "c", full)
                try await put("b", "ada")
                let event = try #require(try await events.next())
                #expect(event.name == "difference")
                try result.apply(event)
                #expect(result.ids == ["a", "b"])
                #expect(result.stepCount == 1)
                // A document that isn't visible any more is removed, and nothing says why.
                try await put("a", "bob")
                let last = try #require(try await events.next())
                #expect(!last.data.contains("bob"))
                try result.apply(last)
                #expect(result.ids == ["b"])
            }
        }

        /// A follower with other rights can't continue what it has.
        @Test("A result by other rights isn't continued")
        func otherRights() async throws {
            try await ServedHub.run { hub in
                let full = try await hub.token()
                try await Self.put(hub, "a", rank: 1, full, more: #","owner":"ada""#)
                try await Self.put(hub, "b", rank: 2, full, more: #","owner":"bob""#)
                var result = LiveResult()
                var events = try await hub.live("{}", token: full)
                try result.apply(try #require(try await events.next()))
                let ada = try await hub.token("anna", [HubGrant(entity: "notes", condition: "owner = 'ada'")])
                for (query, token, ids) in [("{}", ada, ["a"]), (#"{"limit":1}"#, full, ["a"])] {
                    var again = try await hub.live(query, token: token, after: result.id)
                    let event = try #require(try await again.next())
                    #expect(event.name == "snapshot")
                    var other = LiveResult()
                    try other.apply(event)
                    #expect(other.ids == ids)
                }
                // Nor is one of another history.
                let id = try #require(result.id)
                let parts = id.split(separator: "-")
                let foreign = "\(parts[0].dropLast(4))0000-\(parts[1])"
                var again = try await hub.live("{}", token: full, after: foreign)
                #expect(try await again.next()?.name == "snapshot")
            }
        }

        @Test("Nothing is sent after a revocation")
        func revocation() async throws {
            try await ServedHub.run { hub in
                let (token, full) = (try await hub.token(), try await hub.token("bob"))
                try await Self.put(hub, "a", rank: 1, full)
                var events = try await hub.live("{}", token: token)
                #expect(try await events.next()?.name == "snapshot")
                let id = try #require(try await hub.tokens.all().first { $0.name == "anna" }?.id)
                try await hub.tokens.revoke(id)
                try await Self.put(hub, "b", rank: 1, full)
                let last = try #require(try await events.next())
                #expect(last.name == "problem")
                #expect(last.data.contains("unauthorized"))
                #expect(try await events.next() == nil)
            }
        }

        @Test("A live query ends with the server", arguments: ["notes", "missing"])
        func endWithServer(collection: String) async throws {
            try await ServedHub.run { hub in
                let token = try await hub.token()
                try await Self.put(hub, "a", rank: 1, token)
                var events = try await hub.live("{}", of: collection, token: token)
                #expect(try await events.next()?.name == "snapshot")
                let time = TaskTime()
                await hub.group.triggerGracefulShutdown()
                #expect(try await events.next()?.name == "end")
                #expect(try await events.next() == nil)
                #expect(time.elapsed < .seconds(5), "it isn't waited for the next comment")
            }
        }

        /// What is written while nobody reads is neither sent one by one nor kept.
        @Test("A slow reader gets one composed difference")
        func slowReader() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.writeSeconds = 600
            try await ServedHub.run(configuration) { hub in
                let token = try await hub.token()
                let text = String(repeating: "x", count: 100_000)
                for number in 0..<10 {
                    try await Self.put(hub, "n\(number)", rank: Double(number), token, more: #","text":"\#(text)""#)
                }
                var result = LiveResult()
                var events = try await hub.live(#"{"orders":[{"field":"rank"}],"limit":5}"#, token: token)
                try result.apply(try #require(try await events.next()))
                // 20 MB, of which the connection takes a part.
                for number in 0..<200 {
                    try await Self.put(
                        hub, "n\(number % 10)", rank: Double(200 - number), token, more: #","text":"\#(text)""#)
                }
                let expected = try await hub.result(of: #"{"orders":[{"field":"rank"}],"limit":5}"#, token: token)
                var count = 0
                while result.position < expected.position {
                    try result.apply(try #require(try await events.next()))
                    count += 1
                }
                #expect(result.documents == expected.documents)
                #expect(count < 150, "\(count) events")
            }
        }

        @Test("What hasn't been asked for is composed")
        func composed() async throws {
            let store = try TemporaryStore()
            let hub = try await StoreHub(store.storage)
            func save(_ id: String, _ rank: Int) async throws -> Int64 {
                try await hub.write(.save(["rank": .text("\(rank)")]), to: id, of: "notes", as: .full).position
            }
            _ = try await save("a", 1)
            let feed = try hub.follow("notes", matching: QueryBuilder().order(by: "rank"), as: .full)
            guard case .snapshot(let snapshot, _) = try await feed.next(within: .seconds(60)) else {
                Issue.record("a snapshot comes first")
                return
            }
            #expect(snapshot.documents.map(\.id) == ["a"])
            var last: Int64 = 0
            for number in 0..<100 { last = try await save("\(number % 3)", 100 - number) }
            // The commits are with the query by then.
            await store.storage.subscriptions.catchUp()
            guard case .difference(let difference, _) = try await feed.next(within: .seconds(60)) else {
                Issue.record("a difference comes second")
                return
            }
            #expect(difference.position == last)
            guard case .silence = try await feed.next(within: .milliseconds(1)) else {
                Issue.record("nothing is left")
                return
            }
            // What doesn't concern it moves its position on, so that it can resume from there much later.
            let other = try await hub.write(.save(["n": .text("1")]), to: "a", of: "others", as: .full).position
            guard case .reached(let reached, let point) = try await feed.next(within: .milliseconds(1)) else {
                Issue.record("a position is reported")
                return
            }
            #expect(reached == other)
            #expect(point.token.position == other)
            hub.stop()
            guard case .end = try await feed.next(within: .seconds(60)) else {
                Issue.record("the hub has stopped")
                return
            }
        }

        @Test("Live queries are limited")
        func limits() async throws {
            var configuration = HubServerConfiguration()
            configuration.limits.streamsPerToken = 1
            configuration.limits.liveQueryBytes = 30_000
            try await ServedHub.run(configuration) { hub in
                let (token, other) = (try await hub.token(), try await hub.token("bob"))
                try await Self.put(
                    hub, "a", rank: 1, token, more: #","text":"\#(String(repeating: "x", count: 20_000))""#)
                let first = try await hub.live("{}", token: token)
                let headers = ["Accept": "text/event-stream"]
                let path = "/v1/collections/notes/query"
                let second = try await hub.send(.POST, path, token: token, body: "{}", headers: headers)
                #expect(second.status == 429)
                #expect(second.headers.contains(name: "Retry-After"))
                // The token has room, and the memory for results doesn't.
                let third = try await hub.send(.POST, path, token: other, body: "{}", headers: headers)
                #expect(third.status == 503)
                #expect(third.headers.contains(name: "Retry-After"))
                let empty = #"{"filters":[{"field":"rank","operator":"==","value":2}]}"#
                _ = try await hub.live(empty, token: other)
                withExtendedLifetime(first) {}
            }
        }

        @Test("A result that is too large is refused, also when it grows")
        func tooLarge() async throws {
            let store = try TemporaryStore()
            var limits = StoreHub.Limits()
            limits.queryBytes = 10_000
            let hub = try await StoreHub(store.storage, limits: limits)
            func save(_ id: String) async throws {
                let text = "\"\(String(repeating: "x", count: 4_000))\""
                _ = try await hub.write(.save(["t": .text(text)]), to: id, of: "notes", as: .full)
            }
            for id in ["a", "b"] { try await save(id) }
            let (all, two) = (QueryBuilder(), QueryBuilder().limit(to: 2))
            let growing = try hub.follow("notes", matching: all, as: .full)
            let limited = try hub.follow("notes", matching: two, as: .full)
            for feed in [growing, limited] { _ = try await feed.next(within: .seconds(60)) }
            try await save("c")
            await #expect(throws: HubError.self) {
                while true { _ = try await growing.next(within: .seconds(60)) }
            }
            await #expect(throws: HubError.self) {
                while true { _ = try await hub.follow("notes", matching: all, as: .full).next(within: .seconds(60)) }
            }
            // One document less is shown, and the one behind it is found again.
            _ = try await hub.write(.delete, to: "a", of: "notes", as: .full)
            switch try await limited.next(within: .seconds(60)) {
            case .snapshot(let snapshot, _): #expect(snapshot.documents.map(\.id) == ["b", "c"])
            case .difference(let difference, _): #expect(difference.changes.count == 2)
            default: Issue.record("the result has changed")
            }
        }

        @Test("A point to resume from is read as it was written", arguments: ["", "1", "-", "1.1.1.00-0", "x-0"])
        func resumePoints(text: String) async throws {
            let store = try TemporaryStore()
            let hub = try await StoreHub(store.storage)
            let point = HubResumePoint(try await hub.token(at: 0), "1f")
            #expect(HubResumePoint(text: point.text) == point)
            for wrong in [text, point.text + "-", point.text + "g", point.text + String(repeating: "0", count: 16)] {
                #expect(HubResumePoint(text: wrong) == nil, "\(wrong)")
            }
        }
    }
#endif
