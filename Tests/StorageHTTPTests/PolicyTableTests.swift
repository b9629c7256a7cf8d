#if STORAGE_HTTP
    import Foundation
    import NIOHTTP1
    import TestSupport
    import StorageHTTP
    import StorageKit
    import StorageSync
    import StorageTesting
    import Testing

    /// What each policy makes of the age of its rows and of what the network does: shown at first, how often the server is
    /// asked, and what is stored and shown in the end.
    @MainActor @Suite struct PolicyTableTests {
        enum Policy: String, CaseIterable {
            case localOnly, cacheFirst, staleWhileRevalidate, networkFirst, networkOnly
        }
        /// Rows that were never fetched, half a minute ago, or longer ago than the policies allow.
        enum Age: String, CaseIterable { case never, young, old }
        enum Network: String, CaseIterable {
            case answers, delays, notModified, fails, unreachable, cutsOff, tooManyRequests, garbage

            /// Whether the server answers other rows, or that there are none.
            var isFine: Bool { [.answers, .delays, .notModified].contains(self) }
        }

        struct Case: CustomTestStringConvertible, Sendable {
            let policy: Policy
            let age: Age
            let network: Network
            var testDescription: String { "\(policy), \(age), \(network)" }
        }

        /// What is shown before the answer, and whether the server is asked, by policy and age.
        private static let opening = """
            policy                | never        | young        | old
            localOnly             | stored -     | stored -     | stored -
            cacheFirst            | nothing asks | stored -     | nothing asks
            staleWhileRevalidate  | stored asks  | stored -     | stored asks
            networkFirst          | nothing asks | nothing asks | nothing asks
            networkOnly           | nothing asks | nothing asks | nothing asks
            """

        /// What is shown after the answer, by policy and what the network did. `same` are the stored rows, which the server
        /// confirms. It can confirm only what was fetched, so those that never were are answered in full.
        private static let ending = """
            policy                | answers | delays | notModified | fails   | unreachable | cutsOff | tooManyRequests | garbage
            localOnly             | stored  | stored | stored      | stored  | stored      | stored  | stored          | stored
            cacheFirst            | new     | new    | same        | stored  | stored      | stored  | stored          | stored
            staleWhileRevalidate  | new     | new    | same        | stored  | stored      | stored  | stored          | stored
            networkFirst          | new     | new    | same        | stored  | stored      | stored  | stored          | stored
            networkOnly           | new     | new    | same        | nothing | nothing     | nothing | nothing         | nothing
            """

        nonisolated private static let cases = Policy.allCases.flatMap { policy in
            Age.allCases.flatMap { age in Network.allCases.map { Case(policy: policy, age: age, network: $0) } }
        }

        private static func cell(_ table: String, _ row: String, _ column: String) throws -> [String] {
            let lines = table.split(separator: "\n").map { line in
                line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            }
            let place = try #require(lines.first?.firstIndex(of: column))
            let line = try #require(lines.first { $0.first == row })
            return line[place].split(separator: " ").map(String.init)
        }

        private static let local = [Chore(id: 1, title: "local"), Chore(id: 3, title: "local")]
        nonisolated private static let fetched = [Chore(id: 1, title: "old"), Chore(id: 2, title: "old")]
        nonisolated private static let new = [Chore(id: 2, title: "new"), Chore(id: 3, title: "new")]

        /// - Parameter gate: Behind which an answer waits that is delayed.
        nonisolated private static func reply(
            _ network: Network?, to request: TestServer.Request, behind gate: Gate = Gate()
        ) -> Reply {
            switch network {
            // Before the case begins.
            case nil: .ok(fetched.json, ["ETag: \"1\""])
            case .answers: .ok(new.json, ["ETag: \"2\""])
            case .delays: .ok(new.json, ["ETag: \"2\""]).behind(gate)
            case .notModified where request.headers.first(name: "If-None-Match") == "\"1\"":
                .raw("304 Not Modified", [])
            case .notModified: .ok(fetched.json, ["ETag: \"1\""])
            case .fails: .status("500 Internal Server Error", body: "[]")
            case .cutsOff: .raw("200 OK", ["Content-Length: 1000"], body: "[]", end: .close)
            case .tooManyRequests: .status("429 Too Many Requests", ["Retry-After: 60"])
            // Nobody is there to answer.
            case .unreachable: .silence
            // Rows that can be read, and more that can't.
            case .garbage: .ok("\(new.json.dropLast()),\u{0}{{{", ["ETag: \"3\""])
            }
        }

        nonisolated private static func policy(_ policy: Policy) -> QueryCachePolicy {
            switch policy {
            case .localOnly: .localOnly
            case .cacheFirst: .cacheFirst(ttl: .minutes(5))
            case .staleWhileRevalidate: .staleWhileRevalidate(staleAfter: .minutes(5))
            case .networkFirst: .networkFirst
            case .networkOnly: .networkOnly
            }
        }

        @Test("Each policy does what its table says", arguments: cases)
        func policyTable(_ the: Case) async throws {
            let (begins, gate) = (Switch(), Gate())
            let unreachable = try LoopbackSocket()
            defer { withExtendedLifetime(unreachable) {} }
            try await TestServer.run({ Self.reply(begins.isOn ? the.network : nil, to: $0, behind: gate) }) { server in
                let home = try Household()
                let client = HTTPRemoteClient()
                func source(_ origin: String) -> QuerySource<Chore> {
                    QuerySource(Household.all, name: "chores").remote(HTTPRemote(origin, client: client)).cache(
                        Self.policy(the.policy))
                }
                let stored = the.age == .never ? Self.local : Self.fetched
                if the.age == .never {
                    try await home.storage.save(Self.local)
                } else {
                    // localOnly asks on refresh() only.
                    try await home.container.refresh(source(server.origin))
                    home.clock.advance(by: .seconds(the.age == .young ? 30 : 400))
                }
                let (before, head) = (server.requests.count, home.storage.head)
                let lastRefresh = the.age == .never ? nil : try await home.status().lastRefresh
                begins.isOn = true

                let opening = try Self.cell(Self.opening, "\(the.policy)", "\(the.age)")
                let asks = opening[1] == "asks"
                let ending = try Self.cell(Self.ending, "\(the.policy)", "\(the.network)")[0]
                let fails = asks && !the.network.isFine

                let results = home.container.results(
                    of: source(the.network == .unreachable ? unreachable.origin : server.origin),
                    start: .immediate)
                let shown = opening[0] == "stored" ? stored : []
                #expect(results.items == shown)
                #expect(results.isLoading == asks)
                if asks, the.network == .delays {
                    try await eventually { server.requests.count > before }
                    #expect(results.items == shown)
                    #expect(results.isLoading)
                    gate.open()
                }
                try await eventually { !results.isLoading }

                #expect(server.requests.count - before == (asks && the.network != .unreachable ? 1 : 0))
                let rows = asks && ending == "new" ? Self.new : asks && ending == "same" ? Self.fetched : stored
                #expect(results.items == (asks && ending == "nothing" ? [] : rows))
                #expect(try await home.stored() == rows)
                #expect((results.error != nil) == fails)
                #expect(results.isStale == fails)
                if !asks || fails || the.network == .notModified && the.age != .never {
                    #expect(home.storage.head == head)
                }
                guard asks else { return }

                let status = try await home.status()
                #expect(status.lastRefresh == (fails ? lastRefresh : home.clock.now))
                #expect(status.lastAttempt == home.clock.now)
                #expect(status.failures == (fails ? 1 : 0))
                guard fails else { return }
                let error = try #require(results.error?.cause as? HTTPRemoteError)
                #expect(error.code == Self.code(the.network))
                // It waits, and asks again by itself when the time has come, and not before.
                let wait = try #require(status.retryTime).timeIntervalSince(home.clock.now)
                let asked = the.network == .tooManyRequests ? 60.0 : 0
                #expect(wait >= asked)
                #expect(wait <= asked + 2)
                try await eventually { home.clock.sleeperCount == 1 }
            }
        }

        private static func code(_ network: Network) -> HTTPRemoteError.Code? {
            switch network {
            case .answers, .delays, .notModified: nil
            case .fails, .tooManyRequests: .status
            case .unreachable: .connectionFailed
            case .cutsOff: .cutOff
            case .garbage: .undecodable
            }
        }

        @Test("A server that asks for a delay is left alone")
        func requestedDelay() async throws {
            let recovers = Switch()
            try await TestServer.run({ Self.reply(recovers.isOn ? .answers : .tooManyRequests, to: $0) }) { server in
                let home = try Household()
                let source = QuerySource(Household.all, name: "chores").remote(server.remote())
                    .cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
                let results = home.container.results(of: source)
                try await eventually { results.error != nil && home.clock.sleeperCount == 1 }
                home.clock.advance(by: .seconds(59))
                #expect(home.clock.sleeperCount == 1)
                #expect(server.requests.count == 1)
                recovers.isOn = true
                home.clock.advance(by: .seconds(3))
                try await eventually { results.error == nil && !results.isLoading }
                #expect(results.items == Self.new)
                #expect(server.requests.count == 2)
            }
        }

        /// Its rows become too old while it wants to be left alone, and it is left alone even so.
        @Test("A server that asks for a delay is left alone while its rows age")
        func requestedDelayWithYoungRows() async throws {
            let refuses = Switch()
            let peace = Reply.status("429 Too Many Requests", ["Retry-After: 3600"])
            try await TestServer.run({ _ in refuses.isOn ? peace : .ok(Self.new.json) }) { server in
                let home = try Household()
                let source = QuerySource(Household.all, name: "chores").remote(server.remote())
                    .cache(.staleWhileRevalidate(staleAfter: .minutes(5)))
                let results = home.container.results(of: source)
                try await eventually { !results.isLoading }
                home.clock.advance(by: .seconds(299))
                refuses.isOn = true
                await results.refresh()
                #expect(results.error != nil)
                #expect(!results.isStale)
                #expect(server.requests.count == 2)
                let next = try #require(try await home.status().nextRefresh)
                #expect(next >= home.clock.now + 3_600)
                refuses.isOn = false
                try await eventually { home.clock.sleeperCount == 1 }
                home.clock.advance(by: .seconds(2))
                try await eventually { results.isStale }
                #expect(!results.isLoading)
                #expect(results.items == Self.new)
                #expect(server.requests.count == 2)
                home.clock.advance(by: .seconds(next.timeIntervalSince(home.clock.now) + 1))
                try await eventually { results.error == nil && !results.isLoading }
                #expect(server.requests.count == 3)
            }
        }
    }
#endif
