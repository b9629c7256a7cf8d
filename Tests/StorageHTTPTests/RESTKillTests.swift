#if STORAGE_HTTP
    import Foundation
    import TestSupport
    import StorageHTTP
    import Testing

    /// A process that writes to a REST service is killed again and again: what it had stored reaches the service once.
    @Suite(.timeLimit(.minutes(20))) struct RESTKillTests {
        @Test("Every write that was stored arrives once")
        func storedWritesArriveOnce() async throws {
            let folder = try TemporaryFolder()
            let store = folder.path()
            let rest = RESTServer()
            let (collection, rounds) = ("/errands", 6)
            rest.put("seed", Errand("seed").json, in: collection)
            var stored: [String] = []
            try await TestServer.run({ rest.answer($0) }) { server async throws in
                for round in 0..<rounds {
                    // Some rounds have a service that takes writes and loses its answers.
                    if round % 3 == 1 {
                        rest.fails { $0.method == "GET" ? nil : .effect(Reply(bytes: "", end: .close)) }
                    } else {
                        rest.worksAgain()
                    }
                    let worker = try LineProcess("sync-worker", ["rest", store, server.origin, "r\(round)"])
                    stored += await worker.next(20 + round * 3)
                    worker.kill()
                    stored += await worker.next { _ in false }
                }
                rest.worksAgain()
                let last = try LineProcess("sync-worker", ["rest", store, server.origin, "drain"])
                #expect(await last.next(1) == ["drained"])
                last.kill()
            }
            let arrived = Set(
                rest.documents(collection).compactMap { text in
                    (try? JSONDecoder().decode(Arrived.self, from: Data(text.utf8)))?.id
                })
            let written = stored.filter { $0 != "drained" }
            #expect(written.count >= 120)
            #expect(Set(written).isSubset(of: arrived))
            // One that was stored and not printed may have arrived, too.
            #expect(arrived.count <= written.count + 1 + rounds)
            let keys = rest.applied.compactMap(\.key)
            #expect(keys.count == rest.applied.count)
            #expect(Set(keys).count == keys.count)
            #expect(rest.applied.count == arrived.count - 1)
        }

        private struct Arrived: Decodable { let id: String }
    }
#endif
