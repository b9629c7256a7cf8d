#if STORAGE_SERVER
    import Foundation
    import NIOHTTP1
    import StorageTesting
    import Synchronization
    import TestSupport
    import Testing

    @testable import StorageServer
    @testable import StorageSync

    /// Live queries beside concurrent commits, with connections that are lost: each result that a follower has is the one of
    /// its position.
    @Suite(.timeLimit(.minutes(20))) struct HubLivePropertyTests {
        private static let queries = [
            "{}",
            #"{"filters":[{"field":"owner","operator":"==","value":"ada"}]}"#,
            #"{"filters":[{"field":"n","operator":"==","value":3}],"orders":[{"field":"any"}]}"#,
            #"{"filters":[{"field":"n","operator":">=","value":2}],"orders":[{"field":"n","descending":true}],"limit":5}"#,
            #"{"orders":[{"field":"n"},{"field":"any","descending":true}],"limitToLast":4}"#,
            #"{"filters":[{"field":"tags","operator":"array-contains","value":"x"}],"limit":3}"#,
            #"{"filters":[{"field":"inner.a","operator":"in","value":[1,"1",true]}]}"#,
            #"{"orders":[{"field":"any"}],"startAfter":[1],"endAt":["m"],"limit":20}"#,
            #"{"filters":[{"field":"any","operator":"not-in","value":[1,2]}],"orders":[{"field":"any"}],"limit":30}"#,
        ]

        /// A document as it was written: read once, not for each result that it is in.
        private struct Written: Sendable {
            let id: String
            let isOfAda: Bool
            /// As results have it.
            let text: String
            let value: JSONValue

            init(_ id: String, _ fields: [String: String]) throws {
                self.id = id
                isOfAda = fields["owner"] == "\"ada\""
                let json = "{" + fields.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
                var object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
                // The key is a field, as no document has another one of its name.
                object["id"] = id
                text = try LiveResult.text(["id": id, "fields": object])
                value = try JSONDecoder().decode(JSONValue.self, from: Data(json.utf8))
            }
        }

        /// What was written, by position; nil for a deletion.
        private struct History: Sendable {
            var writes: [(position: Int64, id: String, document: Written?)] = []

            /// What was there in the end.
            var documents: [String: Written] {
                var documents: [String: Written] = [:]
                for write in writes.sorted(by: { $0.position < $1.position }) { documents[write.id] = write.document }
                return documents
            }
        }

        private struct Seen: Sendable {
            let query: Int
            let isAda: Bool
            let result: LiveResult
        }

        private final class Run: Sendable {
            let history = Mutex(History())
            let seen = Mutex<[Seen]>([])
        }

        private static func fields(_ random: inout SplitMix64) -> [String: String] {
            var fields: [String: String] = [:]
            fields["owner"] = ["\"ada\"", "\"bob\""].randomElement(using: &random)
            fields["n"] = "\(Int.random(in: 0..<6, using: &random))"
            // Of any kind, in a column of one kind, and at times missing.
            let any = [
                "1", "2", "1.5", "\"1\"", "\"ada\"", "\"m\"", "\"z\"", "true", "false", "[1]", #"{"a":1}"#, "null",
            ]
            if let value = any.randomElement(using: &random), value != "null" { fields["any"] = value }
            if Bool.random(using: &random) {
                fields["tags"] = ["[]", #"["x"]"#, #"["y","x"]"#, #""x""#].randomElement(using: &random)
            }
            if Bool.random(using: &random) {
                fields["inner"] = [#"{"a":1}"#, #"{"a":"1"}"#, #"{"a":true}"#, "1"].randomElement(using: &random)
            }
            return fields
        }

        private static func write(
            _ count: Int, seed: UInt64, to hub: StoreHub, _ run: Run
        ) async throws {
            var random = SplitMix64(seed: seed)
            for _ in 0..<count {
                let id = "\(Int.random(in: 0..<40, using: &random))"
                if Int.random(in: 0..<4, using: &random) == 0 {
                    let outcome = try? await hub.write(.delete, to: id, of: "notes", as: .full)
                    if let outcome { run.history.withLock { $0.writes.append((outcome.position, id, nil)) } }
                } else {
                    let fields = fields(&random)
                    let outcome = try await hub.write(
                        .save(fields.mapValues { .text($0) }), to: id, of: "notes", as: .full)
                    let document = try Written(id, fields)
                    run.history.withLock { $0.writes.append((outcome.position, id, document)) }
                }
                if Int.random(in: 0..<8, using: &random) == 0 { try await Task.sleep(for: .milliseconds(1)) }
            }
        }

        /// Follows a query until it is cancelled, over connections that are lost now and then.
        private static func follow(
            _ hub: ServedHub, _ query: Int, isAda: Bool, token: String, seed: UInt64, _ run: Run
        ) async throws {
            var random = SplitMix64(seed: seed)
            var result = LiveResult()
            while !Task.isCancelled {
                var events = try await hub.live(queries[query], token: token, after: result.id)
                for _ in 0..<Int.random(in: 1...12, using: &random) {
                    guard let event = try await events.next() else { break }
                    try result.apply(event)
                    let now = result
                    run.seen.withLock { $0.append(Seen(query: query, isAda: isAda, result: now)) }
                }
                if Bool.random(using: &random) { try await Task.sleep(for: .milliseconds(3)) }
            }
        }

        private static func expected(
            _ documents: [String: Written], _ query: Int, isAda: Bool
        ) throws -> [String] {
            let visible = documents.values.filter { !isAda || $0.isOfAda }
            let evaluation = try QueryEvaluation(QueryBuilder(json: queries[query].utf8))
            return evaluation.select(from: visible.map { ($0.text, $0.id, $0.value) })
        }

        @Test("Every result is that of its position", arguments: [1, 2] as [UInt64])
        func concurrentCommits(seed: UInt64) async throws {
            var configuration = HubServerConfiguration()
            (configuration.limits.requestsPerSecond, configuration.limits.requestBurst) = (1e6, 1e6)
            try await ServedHub.run(configuration) { hub in
                let (full, ada) = (
                    try await hub.token(),
                    try await hub.token("ada", [HubGrant(entity: "notes", condition: "owner = 'ada'")])
                )
                let store = try await StoreHub(hub.storage)
                let run = Run()
                // All columns are there from here on, or the results are reloaded.
                let first: [String: String] = [
                    "owner": "\"ada\"", "n": "1", "any": "1", "tags": "[]", "inner": "{}",
                ]
                let outcome = try await store.write(
                    .save(first.mapValues { .text($0) }), to: "0", of: "notes", as: .full)
                let document = try Written("0", first)
                run.history.withLock { $0.writes.append((outcome.position, "0", document)) }
                try await withThrowingTaskGroup(of: Void.self) { followers in
                    for query in queries.indices {
                        for isAda in [true, false] {
                            followers.addTask {
                                try await Self.follow(
                                    hub, query, isAda: isAda, token: isAda ? ada : full,
                                    seed: seed &* 1_000 &+ UInt64(2 * query) &+ (isAda ? 1 : 0), run)
                            }
                        }
                    }
                    try await withThrowingTaskGroup(of: Void.self) { writers in
                        for writer in 0..<3 {
                            writers.addTask {
                                try await Self.write(120, seed: seed &* 77 &+ UInt64(writer), to: store, run)
                            }
                        }
                        try await writers.waitForAll()
                    }
                    // In the end every follower has the last result.
                    let documents = run.history.withLock { $0.documents }
                    for query in queries.indices {
                        for isAda in [true, false] {
                            let last = try Self.expected(documents, query, isAda: isAda)
                            let answer = try await hub.result(of: queries[query], token: isAda ? ada : full)
                            #expect(answer.documents == last)
                            try await eventually {
                                run.seen.withLock { seen in
                                    seen.last { $0.query == query && $0.isAda == isAda }?.result.documents == last
                                }
                            }
                        }
                    }
                    followers.cancelAll()
                    while let result = await followers.nextResult() {
                        if case .failure(let error) = result, !(error is CancellationError) {
                            #expect("\(error)".lowercased().contains("cancel"), "\(error)")
                        }
                    }
                }
                store.stop()
                let all = run.seen.withLock { $0 }.sorted { $0.result.position < $1.result.position }
                var writes = run.history.withLock { $0.writes }.sorted { $0.position < $1.position }[...]
                #expect(all.count > 60)
                var documents: [String: Written] = [:]
                for each in all {
                    while let write = writes.first, write.position <= each.result.position {
                        documents[write.id] = write.document
                        writes.removeFirst()
                    }
                    let expected = try Self.expected(documents, each.query, isAda: each.isAda)
                    try #require(
                        each.result.documents == expected,
                        "query \(each.query) at \(each.result.position), seed \(seed)")
                }
            }
        }

        private var queries: [String] { Self.queries }
    }
#endif
