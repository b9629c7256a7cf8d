import Foundation
import PredicateTestSupport
import StorageCore
import TestSupport
import Testing

@testable import StorageSync

/// A hub on a store does with random batches of several clients what the hub in memory does.
struct RandomHubTests {
    private static var seeds: ClosedRange<Int> { 1...max(2, Int(10 * testScale)) }

    /// The same client of both hubs, with positions that it knew of each.
    private struct Pair {
        var memory: HubClient
        var store: HubClient
        var lastOrigin: Int64 = 0
        /// What was pushed before, to be pushed again.
        var sent: [(memory: HubWrite, store: HubWrite)] = []
    }

    /// Two of them are equal to Swift.
    private static let ids = ["0", "1", "\u{e9}", "e\u{301}", "4"]
    private static let pageBytes = 3_000

    @Test("Both hubs agree", arguments: seeds)
    func hubsAgree(seed: Int) async throws {
        var random = PredicateGenerator(seed: UInt64(seed))
        var limits = StoreHub.Limits()
        limits.pageBytes = Self.pageBytes
        let (memoryHub, storeHub) = (try await TestedHub(.memory), try await TestedHub(.store, limits: limits))
        let (memory, store) = (memoryHub.hub, storeHub.hub)
        var pairs: [Pair] = []
        for name in ["a", "b", "c"] {
            pairs.append(Pair(memory: try await HubClient(name, memory), store: try await HubClient(name, store)))
        }
        // Heads that belong together, as bases.
        var heads: [(memory: Int64, store: Int64)] = [(0, 0)]
        for step in 0..<50 {
            let index = Int.random(in: 0..<pairs.count, using: &random)
            var known = Set(try await Self.documents(memory).keys)
            var writes: [(memory: HubWrite, store: HubWrite)] = []
            for offset in 0..<Int.random(in: 1...4, using: &random) {
                if Int.random(in: 0..<10, using: &random) == 0,
                    let old = pairs[index].sent.randomElement(using: &random)
                {
                    writes.append(old)
                    continue
                }
                let id = Self.ids[Int.random(in: 0..<5, using: &random)]
                let document = DocumentID(entity: "notes", id: id)
                let filler = String(repeating: "x", count: Bool.random(using: &random) ? 0 : 1_200)
                let value = StorageValue.text("\"\(step * 10 + offset)\(filler)\"")
                // A deletion of nothing is an event of the hub in memory, and none of a store.
                let operation: WriteOperation
                switch Int.random(in: 0..<6, using: &random) {
                case 0, 1: operation = .save(["a": value])
                case 2, 3: operation = .patch(["b": value])
                default: operation = known.contains(document) ? .delete : .save(["a": value, "b": value])
                }
                // What the batch does to it isn't known here: one write of each document that is deleted.
                if operation == .delete, writes.contains(where: { $0.memory.document == document }) { continue }
                if operation == .delete { known.remove(document) }
                let base = heads[Int.random(in: max(0, heads.count - 6)..<heads.count, using: &random)]
                let isConditional = Int.random(in: 0..<4, using: &random) == 0
                pairs[index].lastOrigin += 1
                let origin = pairs[index].lastOrigin
                writes.append(
                    (
                        HubWrite(origin, operation, of: id, base: base.memory, isConditional: isConditional),
                        HubWrite(origin, operation, of: id, base: base.store, isConditional: isConditional)
                    ))
            }
            if Int.random(in: 0..<8, using: &random) == 0 {
                try await pairs[index].memory.hello()
                try await pairs[index].store.hello()
            }
            let ofMemory = try await pairs[index].memory.push(all: writes.map(\.memory))
            let ofStore = try await pairs[index].store.push(all: writes.map(\.store))
            for ((left, right), write) in zip(zip(ofMemory, ofStore), writes) {
                #expect(Self.kind(left) == Self.kind(right), "seed \(seed), step \(step), \(write.memory)")
            }
            // One that found nothing to delete would be an event of the hub in memory.
            pairs[index].sent += writes.filter { $0.memory.operation != .delete }
            heads.append((try await memory.head(), try await store.head()))
            let reader = Int.random(in: 0..<pairs.count, using: &random)
            try await pairs[reader].store.pull(limit: Int.random(in: 1...5, using: &random))
            if let page = pairs[reader].store.lastPage {
                #expect(page.changes.count <= 1 || page.byteCount <= Self.pageBytes, "seed \(seed), step \(step)")
            }
        }
        let expected = try await Self.documents(memory)
        for index in pairs.indices {
            try await pairs[index].store.catchUp(limit: 3)
            // A store has the id among the fields.
            let documents = pairs[index].store.documents.mapValues { $0.filter { $0.key != "id" } }
            #expect(documents == expected, "seed \(seed)")
        }
    }

    private static func documents(_ hub: any SyncHub) async throws -> [DocumentID: [String: String]] {
        var reader = try await HubClient(UUID().uuidString, hub)
        try await reader.catchUp()
        return reader.documents
    }

    /// Positions differ.
    private static func kind(_ result: WriteResult) -> String {
        switch result {
        case .applied: "applied"
        case .blocked: "blocked"
        case .rejected(.conflict): "conflict"
        case .rejected(let rejection): "\(rejection)"
        }
    }
}
