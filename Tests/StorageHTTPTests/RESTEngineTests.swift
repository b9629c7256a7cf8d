#if STORAGE_HTTP
    import Foundation
    import NIOHTTP1
    import TestSupport
    import StorageHTTP
    import StorageKit
    import StorageSync
    import Testing

    /// Sync engines on a REST service that fails in every way.
    @MainActor @Suite(.timeLimit(.minutes(10))) struct RESTEngineTests {
        private static let collection = "/users/7/errands"
        private let rest = RESTServer()

        private func configuration(_ server: TestServer) -> RESTConfiguration {
            var configuration = RESTConfiguration(server.origin)
            configuration.client = server.client
            configuration.idempotencyHeader = "Idempotency-Key"
            configuration.usesEntityTags = true
            configuration.queryMapping = .brackets
            configuration.pollingInterval = .milliseconds(20)
            configuration.timeout = .seconds(60)
            return configuration
        }

        private func container(_ url: URL? = nil) throws -> PersistenceContainer {
            if let url { return try .file(at: url) { $0.autoSchema(ErrandRecord.self) } }
            return try .inMemory { $0.autoSchema(ErrandRecord.self) }
        }

        private func engine(
            _ configuration: RESTConfiguration, in container: PersistenceContainer,
            _ resolution: ConflictResolution<Errand> = .lastWriterWins
        ) -> CollectionSyncEngine<Errand> {
            withDatabaseContainer(container) {
                CollectionSyncEngine(
                    remote: RESTRemoteCollectionService(configuration) { "users/7/errands" }, managerKey: "errands",
                    conflictResolution: resolution)
            }
        }

        private func run(_ body: (TestServer) async throws -> Void) async throws {
            rest.put("a", Errand("a", "bread").json, in: Self.collection)
            rest.put("b", Errand("b", "milk", priority: 1).json, in: Self.collection)
            let rest = rest
            try await TestServer.run({ rest.answer($0) }, body)
        }

        @Test("A collection is fetched, followed and written")
        func wholeCollection() async throws {
            try await run { server async throws in
                rest.split(pagesOf: 1)
                let engine = engine(configuration(server), in: try container())
                #expect(engine.status.missingCapabilities.isEmpty)
                await engine.startListening()
                #expect(engine.currentCollection == [Errand("a", "bread"), Errand("b", "milk", priority: 1)])
                rest.put("c", Errand("c", "salt").json, in: Self.collection)
                rest.remove("b", in: Self.collection)
                try await eventually { engine.currentCollection.map(\.id) == ["a", "c"] }
                try await engine.saveDocument(Errand("d", "tea"))
                try await engine.updateDocument(id: "a", data: ["note": "rye", "priority": 9])
                try await engine.deleteDocument(id: "c")
                try await eventually { engine.pendingCount == 0 }
                #expect(
                    rest.documents(Self.collection)
                        == [Errand("a", "bread", priority: 9, note: "rye").json, Errand("d", "tea").json])
                try await engine.updateDocument(id: "a", data: ["note": String?.none])
                try await eventually { engine.pendingCount == 0 }
                #expect(rest.documents(Self.collection)[0] == Errand("a", "bread", priority: 9).json)
            }
        }

        /// Polls of what hasn't changed bring nothing.
        @Test("Polls ask whether something has changed")
        func conditionalPolling() async throws {
            try await run { server async throws in
                let engine = engine(configuration(server), in: try container())
                await engine.startListening()
                let count = server.requests.count
                try await eventually { server.requests.count > count + 3 }
                let conditions = Self.conditions(of: server.requests)
                // The first is the engine's own, from which the polls go on, unless it comes late.
                #expect(conditions.count { !$0 } <= 2)
                #expect(conditions.suffix(2) == [true, true])
            }
        }

        /// Which requests for the collection have asked whether it has changed.
        private nonisolated static func conditions(of requests: [TestServer.Request]) -> [Bool] {
            requests.filter { $0.path == "/users/7/errands" }.map { $0.headers.contains(name: "If-None-Match") }
        }

        @Test("A part of the collection is listened to")
        func partOfCollection() async throws {
            try await run { server async throws in
                let engine = engine(configuration(server), in: try container())
                try await engine.startListening { $0.where("priority", isEqualTo: 1) }
                #expect(engine.currentCollection.map(\.id) == ["b"])
                rest.put("c", Errand("c", "salt", priority: 1).json, in: Self.collection)
                rest.put("a", Errand("a", "rolls").json, in: Self.collection)
                try await eventually { engine.currentCollection.map(\.id) == ["b", "c"] }
                // One that leaves the query is asked for by itself.
                rest.put("b", Errand("b", "cream", priority: 2).json, in: Self.collection)
                try await eventually { engine.getDocument(id: "b")?.title == "cream" }
                rest.remove("c", in: Self.collection)
                try await eventually { engine.currentCollection.map(\.id) == ["b"] }
                #expect(server.requests.allSatisfy { $0.path != Self.collection })
            }
        }

        @Test("Writes of an offline period drain in order, whatever gets lost")
        func offlineWritesDrain() async throws {
            try await run { server async throws in
                let engine = engine(configuration(server), in: try container())
                await engine.startListening()
                rest.fails { _ in .reply(.status("503 X")) }
                for number in 1...40 {
                    try await engine.saveDocument(Errand("n\(number % 8)", "t\(number)", priority: number))
                }
                try await engine.deleteDocument(id: "b")
                #expect(engine.pendingCount == 41)
                // Each fourth answer is lost behind its effect, each fifth request before it.
                let count = Counter()
                rest.fails { request in
                    guard request.method != "GET" else { return nil }
                    let number = count.add()
                    if number % 4 == 0 { return .effect(Reply(bytes: "HTTP/1.1 204 No Con", end: .close)) }
                    return number % 5 == 0 ? .reply(Reply(bytes: "", end: .close)) : nil
                }
                try await eventually {
                    try await engine.retryNow()
                    return engine.pendingCount == 0
                }
                let last = [40, 33, 34, 35, 36, 37, 38, 39]
                let expected = last.map { Errand("n\($0 % 8)", "t\($0)", priority: $0).json }
                #expect(rest.documents(Self.collection) == [Errand("a", "bread").json] + expected)
                // Each had its effect once, under a key that it kept.
                let keys = rest.applied.compactMap(\.key)
                #expect(keys.count == rest.applied.count)
                #expect(Set(keys).count == keys.count)
                #expect(rest.received.count > rest.applied.count)
                #expect(Set(rest.received.compactMap(\.key)) == Set(keys))
            }
        }

        @Test(
            "A service that is out of order is asked again",
            arguments: [
                Reply.status("500 X"), .ok("garbage"), Reply(bytes: "220 mail ready\r\n", end: .close),
                Reply(bytes: "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n[", end: .close),
            ])
        func brokenService(reply: Reply) async throws {
            try await run { server async throws in
                let engine = engine(configuration(server), in: try container())
                rest.fails { $0.method == "GET" ? .reply(reply) : nil }
                await engine.startListening()
                // The next attempt may be under way already.
                try await eventually {
                    guard case .waiting = engine.status.connection else { return false }
                    return engine.status.lastError?.isEmpty == false
                }
                rest.worksAgain()
                await engine.startListening()
                #expect(engine.currentCollection.map(\.id) == ["a", "b"])
            }
        }

        @Test("The delay that the service asks for is kept")
        func requestedDelay() async throws {
            try await run { server async throws in
                let engine = engine(configuration(server), in: try container())
                await engine.startListening()
                rest.fails { $0.method == "GET" ? nil : .reply(.status("429 X", ["Retry-After: 3600"])) }
                try await engine.saveDocument(Errand("c"))
                try await eventually { if case .waiting = engine.status.connection { true } else { false } }
                guard case .waiting(let time) = engine.status.connection else { return }
                #expect(time.timeIntervalSinceNow > 3_000)
                #expect(engine.pendingCount == 1)
                #expect(engine.parked.isEmpty)
            }
        }

        @Test("A refused write is parked and gets another key when it is retried")
        func refusedWrite() async throws {
            try await run { server async throws in
                let engine = engine(configuration(server), in: try container())
                await engine.startListening()
                rest.fails { $0.path.hasSuffix("/a") && $0.method == "PATCH" ? .reply(.status("422 X")) : nil }
                try await engine.updateDocument(id: "a", data: ["priority": 7])
                try await engine.updateDocument(id: "b", data: ["priority": 8])
                try await eventually { engine.parked.count == 1 && engine.pendingCount == 1 }
                #expect(engine.parked.first?.reason == "the service answers 422 Unprocessable Entity")
                rest.worksAgain()
                try await engine.retry(try #require(engine.parked.first))
                try await eventually { engine.pendingCount == 0 }
                #expect(rest.documents(Self.collection)[0] == Errand("a", "bread", priority: 7).json)
                // A service that remembers its refusal would repeat it.
                let keys = rest.received.filter { $0.path.hasSuffix("/a") }.compactMap(\.key)
                try #require(keys.count == 2)
                #expect(keys[1] == keys[0] + ".1")
            }
        }

        @Test("Refused credentials stop everything until there are new ones")
        func refusedCredentials() async throws {
            try await run { server async throws in
                let engine = engine(configuration(server), in: try container())
                await engine.startListening()
                rest.fails { _ in .reply(.status("401 Unauthorized")) }
                try await engine.saveDocument(Errand("c"))
                try await eventually { engine.status.connection == .unauthorized }
                rest.worksAgain()
                try await engine.credentialsChanged()
                try await eventually { engine.pendingCount == 0 }
                #expect(rest.documents(Self.collection).count == 3)
            }
        }

        /// Between the engine's look at the document and its write another device writes: the service's entity tags show it.
        @Test("A conditional write overwrites nothing")
        func conditionalWrite() async throws {
            try await run { server async throws in
                let engine = engine(
                    configuration(server), in: try container(),
                    .merge { base, mine, theirs in
                        var merged = theirs
                        merged.priority += mine.priority - (base?.priority ?? 0)
                        return merged
                    })
                await engine.startListening()
                let (rest, count) = (rest, Counter())
                rest.fails { request in
                    guard request.method == "PATCH", count.add() == 1 else { return nil }
                    #expect(request.headers.contains(name: "If-Match"))
                    rest.put("b", Errand("b", "milk", priority: 11).json, in: "/users/7/errands")
                    return nil
                }
                try await engine.updateDocument(id: "b", data: ["priority": 3])
                try await eventually {
                    try await engine.retryNow()
                    return engine.pendingCount == 0
                }
                #expect(engine.parked.isEmpty)
                try await eventually { engine.getDocument(id: "b")?.priority == 13 }
                #expect(rest.documents(Self.collection)[1] == Errand("b", "milk", priority: 13).json)
            }
        }

        /// 409 of a service without entity tags: the write is made on what the document has become, and sent under another key.
        @Test("A conflict is fetched and the write is sent again")
        func conflictIsSentAgain() async throws {
            try await run { server async throws in
                var configuration = configuration(server)
                configuration.usesEntityTags = false
                configuration.pollingInterval = nil
                let engine = engine(configuration, in: try container())
                await engine.startListening()
                rest.put("a", Errand("a", "rolls", priority: 5).json, in: Self.collection)
                let count = Counter()
                rest.fails { $0.method == "PATCH" && count.add() == 1 ? .reply(.status("409 Conflict")) : nil }
                try await engine.updateDocument(id: "a", data: ["note": "rye"])
                try await eventually {
                    try await engine.retryNow()
                    return engine.pendingCount == 0
                }
                let merged = Errand("a", "rolls", priority: 5, note: "rye")
                #expect(rest.documents(Self.collection)[0] == merged.json)
                try await eventually { engine.getDocument(id: "a") == merged }
                let keys = rest.received.compactMap(\.key)
                try #require(keys.count == 2)
                #expect(keys[1] == keys[0] + ".c1")
            }
        }

        /// Nobody has changed the document, so the same answer would come for ever.
        @Test("A conflict without a newer document is parked")
        func unexplainedConflict() async throws {
            try await run { server async throws in
                let engine = engine(configuration(server), in: try container())
                await engine.startListening()
                rest.fails { $0.method == "PATCH" ? .reply(.status("409 Conflict")) : nil }
                try await engine.updateDocument(id: "a", data: ["title": "taken"])
                try await eventually { engine.parked.count == 1 }
                #expect(engine.parked.first?.reason == "the service answers 409 Conflict")
            }
        }

        @Test("A document is followed and written")
        func singleDocument() async throws {
            try await run { server async throws in
                let engine = withDatabaseContainer(try container()) {
                    DocumentSyncEngine<Errand>(
                        remote: RESTRemoteDocumentService(configuration(server)) { "users/7/errands" },
                        managerKey: "errand")
                }
                try await engine.startListening(documentId: "a")
                #expect(engine.currentDocument == Errand("a", "bread"))
                rest.put("a", Errand("a", "rolls").json, in: Self.collection)
                try await eventually { engine.currentDocument?.title == "rolls" }
                rest.fails { _ in .reply(.status("503 X")) }
                try await engine.updateDocument(data: ["priority": 4])
                #expect(engine.currentDocument?.priority == 4)
                rest.worksAgain()
                try await eventually {
                    try await engine.retryNow()
                    return engine.pendingCount == 0
                }
                #expect(rest.documents(Self.collection)[0] == Errand("a", "rolls", priority: 4).json)
                rest.remove("a", in: Self.collection)
                try await eventually { engine.currentDocument == nil }
                #expect(server.requests.allSatisfy { $0.path != Self.collection })
            }
        }

        /// A slow answer is waited for, one that doesn't come is given up.
        @Test("A service may be slow or silent")
        func slowOrSilentService() async throws {
            try await run { server async throws in
                var configuration = configuration(server)
                configuration.timeout = .milliseconds(300)
                let engine = engine(configuration, in: try container())
                rest.fails { $0.method == "GET" ? nil : .effect(.silence) }
                await engine.startListening()
                try await engine.saveDocument(Errand("c"))
                try await eventually {
                    guard !rest.received.isEmpty, case .waiting = engine.status.connection else { return false }
                    return true
                }
                rest.worksAgain()
                try await eventually {
                    try await engine.retryNow()
                    return engine.pendingCount == 0
                }
                #expect(rest.applied.count == 1)
                #expect(rest.received.count > 1)
            }
        }
    }
#endif
