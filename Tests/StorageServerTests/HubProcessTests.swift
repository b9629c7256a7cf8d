#if STORAGE_SERVER
    import Foundation
    import PredicateTestSupport
    import TestSupport
    import StorageCore
    import StorageKit
    import Testing

    @testable import StorageHTTP
    @testable import StorageServer
    @testable import StorageSync

    /// A hub and three devices, each a process that is killed at times, with a network between them that fails: what was stored once is
    /// everywhere in the end.
    @Suite(.serialized, .timeLimit(.minutes(30))) struct HubProcessTests {
        private struct Server {
            let process: LineProcess
            let port: Int

            init(_ store: String) async throws {
                process = try LineProcess(
                    "storagekit", ["serve", "-s", store, "--create", "--port", "0", "--maximum-rate", "10000"])
                let line = try #require(await process.next { $0.hasPrefix("Serving on ") }.last)
                port = try #require(line.split(separator: ":").last.flatMap { Int($0) })
            }
        }

        private struct Note: Codable, Equatable {
            let id: String
            let author: String
            let count: Int
        }

        /// A device over several lives of its process.
        private final class Device {
            let name: String
            let store: String
            let proxy: FaultyProxy
            let token: String
            var seed: UInt64
            private(set) var process: LineProcess
            /// What was stored last in each document of its own.
            var stored: [String: Int] = [:]

            init(_ name: String, in folder: TemporaryFolder, _ proxy: FaultyProxy, _ token: String, _ seed: UInt64)
                async throws
            {
                self.name = name
                store = folder.path("\(name).sqlite")
                self.proxy = proxy
                self.token = token
                self.seed = seed
                process = try Self.start(store, proxy, token, name, seed)
                _ = await process.next { $0 == "ready" }
            }

            private static func start(
                _ store: String, _ proxy: FaultyProxy, _ token: String, _ name: String, _ seed: UInt64
            ) throws -> LineProcess {
                try LineProcess(
                    "sync-worker", [store, "http://127.0.0.1:\(proxy.port)", token, name, "\(seed)"])
            }

            func note(_ lines: [String]) {
                for line in lines {
                    let words = line.split(separator: " ")
                    guard words.count == 3, words[0] == "wrote", let count = Int(words[2]) else { continue }
                    stored[String(words[1])] = count
                }
            }

            func write(_ count: Int) async throws {
                try process.send("write \(count)")
                var left = count
                note(
                    await process.next { line in
                        if line.hasPrefix("wrote") { left -= 1 }
                        return left == 0
                    })
            }

            /// In the middle of writing.
            func killed() async throws {
                try process.send("write 1000")
                var left = 3
                note(
                    await process.next { line in
                        if line.hasPrefix("wrote") { left -= 1 }
                        return left == 0
                    })
                process.kill()
                note(await process.next { _ in false })
                seed &+= 100
                process = try Self.start(store, proxy, token, name, seed)
                _ = await process.next { $0 == "ready" }
            }

            /// - Returns: How many writes are pending then.
            func fill(_ documents: Int) async throws -> Int {
                try process.send("fill \(documents)")
                let line = try #require(await process.next { $0.hasPrefix("filled ") }.last)
                return try #require(line.split(separator: " ").last.flatMap { Int($0) })
            }

            func notes() async throws -> [Note] {
                try process.send("dump")
                let line = try #require(await process.next { $0.hasPrefix("[") }.last)
                return try JSONDecoder().decode([Note].self, from: Data(line.utf8))
            }

            func settle() async throws {
                try process.send("settle")
                _ = await process.next { $0 == "settled" }
            }

            func quit() async throws {
                try process.send("quit")
                #expect(process.end() == 0)
            }
        }

        @Test("A proxy without faults passes everything on")
        func proxyWithoutFaults() async throws {
            let folder = try TemporaryFolder()
            let hub = folder.path("hub.sqlite")
            let server = try await Server(hub)
            let proxy = try await FaultyProxy(to: server.port, seed: 1)
            let token = try await HubTokenFile(besideStore: hub).create(
                name: "a", grants: [HubGrant(entity: "notes", writes: true)]
            ).text
            let device = try await Device("a", in: folder, proxy, token, 1)
            try await device.write(10)
            try await device.settle()
            #expect(try await Self.notes(proxy.port, token) == device.notes())
            try await device.quit()
            server.process.kill(SIGTERM)
            #expect(server.process.end() == 0)
            try await proxy.stop()
        }

        @Test("Everybody ends equal", arguments: testSeeds(2))
        func convergence(seed: UInt64) async throws {
            let folder = try TemporaryFolder()
            let hub = folder.path("hub.sqlite")
            var random = PredicateGenerator(seed: seed)
            var server = try await Server(hub)
            let proxy = try await FaultyProxy(to: server.port, seed: seed)
            let tokens = try HubTokenFile(besideStore: hub)
            var devices: [Device] = []
            for name in ["a", "b", "c"] {
                let token = try await tokens.create(name: name, grants: [HubGrant(entity: "notes", writes: true)]).text
                devices.append(try await Device(name, in: folder, proxy, token, random.next()))
            }
            proxy.isFaulty = true
            for _ in 0..<(testScale > 1 ? 12 : 6) {
                for device in devices { try await device.write(Int.random(in: 1...10, using: &random)) }
                switch Int.random(in: 0..<4, using: &random) {
                case 0: try await devices[Int.random(in: 0..<3, using: &random)].killed()
                case 1:
                    server.process.kill()
                    server = try await Server(hub)
                    proxy.target = server.port
                // Time for devices and hub to exchange something.
                default: try await Task.sleep(for: .milliseconds(200))
                }
            }
            // Each in turn, as chance may have left one out.
            for device in devices {
                try await device.killed()
                for other in devices { try await other.write(2) }
            }
            server.process.kill()
            for device in devices { try await device.write(2) }
            server = try await Server(hub)
            proxy.target = server.port
            for device in devices { try await device.write(2) }
            proxy.isFaulty = false
            for device in devices { try await device.settle() }
            let deadline = ContinuousClock.now + .seconds(300)
            var all: [[Note]] = []
            repeat {
                all = []
                for device in devices { all.append(try await device.notes()) }
                if all.allSatisfy({ $0 == all[0] }) { break }
                // The devices are other processes.
                try await Task.sleep(for: .milliseconds(100))
            } while ContinuousClock.now < deadline
            #expect(all[0] == all[1], "seed \(seed)")
            #expect(all[1] == all[2], "seed \(seed)")
            let counts = Dictionary(uniqueKeysWithValues: all[0].map { ($0.id, $0.count) })
            for device in devices {
                for (id, count) in device.stored {
                    #expect((counts[id] ?? 0) >= count, "seed \(seed): \(id) of \(device.name) was stored")
                }
            }
            let reader = try await tokens.create(name: "reader", grants: [HubGrant(entity: "notes")]).text
            #expect(try await Self.notes(server.port, reader) == all[0], "the hub has what all have")
            for device in devices { try await device.quit() }
            server.process.kill(SIGTERM)
            #expect(server.process.end() == 0)
            try await proxy.stop()
        }

        /// 1,000 of them, and 10,000 with `STORAGEKIT_TEST_SCALE=10`.
        @Test("Offline writes drain in order and in batches")
        func offlineWritesDrain() async throws {
            let count = min(10_000, max(1_000, Int(1_000 * testScale)))
            let folder = try TemporaryFolder()
            let hub = folder.path("hub.sqlite")
            let token = try await HubTokenFile(besideStore: hub).create(
                name: "a", grants: [HubGrant(entity: "notes", writes: true)]
            ).text
            // Nobody serves there.
            let proxy = try await FaultyProxy(to: 1, seed: 1)
            let device = try await Device("a", in: folder, proxy, token, 1)
            #expect(try await device.fill(count) == count, "all of them wait")
            let server = try await Server(hub)
            proxy.target = server.port
            try await device.settle()
            let pushes = proxy.count(of: "/v1/sync/push")
            #expect((count / 500...count / 250).contains(pushes), "\(pushes) batches")
            try await device.quit()
            server.process.kill(SIGTERM)
            #expect(server.process.end() == 0)
            try await proxy.stop()
            let storage = try StorageKit.start(at: URL(fileURLWithPath: hub)).facade
            var (ids, position) = ([StorageValue](), Int64(0))
            while position < storage.head {
                let page = try await storage.changes(since: .position(position), limit: 5_000)
                for event in page.commits.flatMap(\.events) where event.table == "notes" {
                    ids += event.key.map(\.value)
                }
                guard let last = page.commits.last?.events.last?.position else { break }
                position = last
            }
            #expect(ids == (1...count).map { .text("a-\($0)") })
            try await storage.close()
        }

        private static func notes(_ port: Int, _ token: String) async throws -> [Note] {
            let hub = HTTPHubClient(url: "http://127.0.0.1:\(port)/", token: { token }, client: .shared)
            let documents: HubDocumentPage = try await hub.read("v1/collections/notes/documents")
            return try documents.documents.map { try DocumentFields($0.fields).document(Decoded.self).note }
        }

        private struct Decoded: DataSyncModelProtocol {
            var id: String
            var author: String
            var count: Int

            var note: Note { Note(id: id, author: author, count: count) }
        }
    }
#endif
