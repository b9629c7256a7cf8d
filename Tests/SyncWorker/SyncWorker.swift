#if STORAGE_HTTP
    import Foundation
    import PredicateTestSupport
    import StorageEntities
    import StorageHTTP
    import StorageKit
    import StorageSync

    @StorageEntity
    struct Note: DataSyncModelProtocol, Equatable {
        var id: String
        var author: String
        var count: Int
    }

    /// One device of HubProcessTests: a store with an engine on a hub, in a process of its own that is killed at times.
    ///
    /// Reads a command a line: `write N` makes N random writes and says each one once it is in the store, `fill N` makes N documents of its
    /// own, `settle` waits until nothing is pending, `dump` prints the documents, `quit` closes the store.
    @main @MainActor
    struct SyncWorker {
        let name: String
        let container: PersistenceContainer
        let engine: CollectionSyncEngine<Note>
        var random: PredicateGenerator
        var count: Int

        static func main() async throws {
            let arguments = CommandLine.arguments
            if arguments.count == 5, arguments[1] == "rest" {
                return try await RESTWriter.run(store: arguments[2], origin: arguments[3], prefix: arguments[4])
            }
            guard arguments.count == 6, let seed = UInt64(arguments[5]) else {
                print("usage: sync-worker STORE URL TOKEN NAME SEED | sync-worker rest STORE ORIGIN PREFIX")
                exit(2)
            }
            let container = try PersistenceContainer.file(at: URL(fileURLWithPath: arguments[1])) {
                $0.autoSchema(NoteRecord.self)
            }
            let hub = try Hub(arguments[2], token: arguments[3])
            let engine = withDatabaseContainer(container) {
                CollectionSyncEngine<Note>(remote: hub.collection("notes"), managerKey: "notes")
            }
            let notes = try await container.storage.query(Note.self).fetch()
            var worker = SyncWorker(
                name: arguments[4], container: container, engine: engine, random: PredicateGenerator(seed: seed),
                count: notes.filter { $0.author == arguments[4] }.map(\.count).max() ?? 0)
            let listening = Task { await engine.startListening() }
            say("ready")
            while let line = await nextLine() {
                let words = line.split(separator: " ")
                switch words.first {
                case "write": for _ in 0..<(Int(words.last ?? "") ?? 0) { try await worker.write() }
                case "fill": try await worker.fill(Int(words.last ?? "") ?? 0)
                case "settle": try await worker.settle()
                case "dump": try await worker.dump()
                default:
                    listening.cancel()
                    try await container.storage.close()
                    say("closed")
                    return
                }
            }
        }

        /// The main actor continues while a line is waited for.
        private nonisolated static func nextLine() async -> String? {
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: readLine()) }
            }
        }

        /// Written at once, whatever the output is.
        static func say(_ text: String) {
            FileHandle.standardOutput.write(Data("\(text)\n".utf8))
        }

        /// Documents of its own, which nobody else writes, and shared ones.
        private mutating func write() async throws {
            count += 1
            if random.next() % 3 > 0 {
                let id = "\(name)-\(random.next() % 5)"
                _ = try await engine.saveDocument(Note(id: id, author: name, count: count))
                Self.say("wrote \(id) \(count)")
            } else {
                let id = "shared-\(random.next() % 5)"
                if random.next() % 4 == 0 {
                    try await container.storage.delete(Note.self, id: id)
                } else {
                    _ = try await engine.saveDocument(Note(id: id, author: name, count: count))
                }
                Self.say("wrote \(id)")
            }
        }

        private mutating func fill(_ documents: Int) async throws {
            for _ in 0..<documents {
                count += 1
                _ = try await engine.saveDocument(Note(id: "\(name)-\(count)", author: name, count: count))
            }
            Self.say("filled \(engine.pendingCount)")
        }

        private func settle() async throws {
            while engine.pendingCount > 0 {
                // What doesn't know of a deletion is given up.
                if let parked = engine.parked.first { try await engine.discard(parked) }
                try await engine.retryNow()
                try await Task.sleep(for: .milliseconds(20))
            }
            Self.say("settled")
        }

        private func dump() async throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            let notes = try await container.storage.query(Note.self).fetch().sorted { $0.id < $1.id }
            Self.say(String(decoding: try encoder.encode(notes), as: UTF8.self))
        }
    }
#else
    @main struct SyncWorker {
        static func main() { print("built without the HTTP trait") }
    }
#endif
