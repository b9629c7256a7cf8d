#if STORAGE_HTTP
    import Foundation
    import StorageHTTP
    import Testing

    /// A process that writes to a REST service is killed again and again: what it had stored reaches the service once.
    @Suite(.timeLimit(.minutes(5))) struct RESTKillTests {
        @Test func everyWriteThatWasStoredArrivesOnce() async throws {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent("rest-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let store = folder.appendingPathComponent("store.sqlite").path
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
                    let worker = try SyncWorker(store: store, origin: server.origin, prefix: "r\(round)")
                    stored += try await worker.lines(20 + round * 3)
                    worker.kill()
                    stored += worker.rest()
                }
                rest.worksAgain()
                let last = try SyncWorker(store: store, origin: server.origin, prefix: "drain")
                #expect(try await last.lines(1) == ["drained"])
                last.kill()
            }
            let arrived = Set(
                rest.documents(collection).compactMap { text in
                    (try? JSONDecoder().decode(Arrived.self, from: Data(text.utf8)))?.id
                })
            let written = stored.filter { $0 != "drained" }
            #expect(written.count >= 120 && Set(written).isSubset(of: arrived))
            // One that was stored and not printed may have arrived, too.
            #expect(arrived.count <= written.count + 1 + rounds)
            let keys = rest.applied.compactMap(\.key)
            #expect(keys.count == rest.applied.count && Set(keys).count == keys.count)
            #expect(rest.applied.count == arrived.count - 1)
        }

        private struct Arrived: Decodable { let id: String }
    }

    /// `sync-worker` as a process.
    final class SyncWorker {
        private let process = Process()
        private let handle: FileHandle
        private var buffer = Data()

        init(store: String, origin: String, prefix: String) throws {
            let output = Pipe()
            handle = output.fileHandleForReading
            process.executableURL = Self.executable
            process.arguments = ["rest", store, origin, prefix]
            process.standardOutput = output
            try process.run()
        }

        /// The next lines.
        func lines(_ count: Int) async throws -> [String] {
            var lines: [String] = []
            while lines.count < count {
                if let line = nextLine() {
                    lines.append(line)
                    continue
                }
                let data = handle.availableData
                guard !data.isEmpty else { break }
                buffer.append(data)
            }
            return lines
        }

        func kill() {
            Foundation.kill(process.processIdentifier, SIGKILL)
            process.waitUntilExit()
        }

        /// What was printed before it was killed.
        func rest() -> [String] {
            buffer.append(handle.readDataToEndOfFile())
            var lines: [String] = []
            while let line = nextLine() { lines.append(line) }
            return lines
        }

        private func nextLine() -> String? {
            guard let end = buffer.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
            let line = String(decoding: buffer[buffer.startIndex..<end], as: UTF8.self)
            buffer = Data(buffer[buffer.index(after: end)...])
            return line
        }

        /// Beside the tests.
        private static let executable: URL = {
            var folder = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
            while folder.path != "/" {
                folder.deleteLastPathComponent()
                let worker = folder.appendingPathComponent("sync-worker")
                if FileManager.default.isExecutableFile(atPath: worker.path) { return worker }
            }
            return folder
        }()
    }
#endif
