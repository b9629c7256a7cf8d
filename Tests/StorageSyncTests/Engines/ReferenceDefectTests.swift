import Foundation
import StorageSync
import TestSupport
import Testing

/// The defects of the engines that ours are modelled on, each by its name.
@MainActor @Suite struct ReferenceDefectTests {
    @Test("Failed saves and deletions are queued too")
    func failedWritesAreQueued() async throws {
        let shop = try SyncedShop([Product("x")])
        let engine = shop.engine()
        await engine.startListening()
        shop.mock.failure = RemoteError.unavailable()
        try await engine.saveDocument(Product("a"))
        try await engine.deleteDocument(id: "x")
        try await eventually { engine.pendingCount == 2 }
        shop.mock.failure = nil
        try await engine.retryNow()
        try await engine.settled()
        #expect(shop.mock.collection == [Product("a")])
    }

    @Test("A later update doesn't clear fields that were never sent")
    func updateKeepsUnsentFields() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        await engine.startListening()
        shop.mock.failure = RemoteError.unavailable()
        try await engine.updateDocument(id: "a", data: ["name": "Lamp"])
        shop.mock.failure = nil
        try await engine.updateDocument(id: "a", data: ["price": 5.0])
        try await engine.retryNow()
        try await engine.settled()
        #expect(shop.mock.collection == [Product("a", name: "Lamp", price: 5)])
    }

    @Test("Pending writes are sent by themselves, and the bulk load doesn't overwrite them")
    func bulkLoadKeepsPendingWrites() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        shop.remote.errors["a"] = RemoteError.unavailable()
        await engine.startListening()
        try await engine.updateDocument(id: "a", data: ["price": 5.0])
        await engine.startListening()
        #expect(engine.getDocument(id: "a")?.price == 5)
        shop.remote.errors = [:]
        // Without another call: the delay is 2 seconds at the most.
        try await engine.settled()
        #expect(shop.mock.collection == [Product("a", price: 5)])
    }

    @Test("Stopping keeps pending writes")
    func stoppingKeepsPendingWrites() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        await engine.startListening()
        shop.mock.failure = RemoteError.unavailable()
        try await engine.updateDocument(id: "a", data: ["price": 5.0])
        engine.stopListening()
        try await eventually { try await shop.stored().isEmpty }
        shop.mock.failure = nil
        try await engine.settled()
        #expect(shop.mock.collection == [Product("a", price: 5)])
    }

    /// A random part of 2, 4, 8, 16, 32 and then 60 seconds, from one process to the next.
    @Test("Delays grow with each failure and survive the process")
    func delaysSurviveRestart() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("shop.sqlite")
            let mock = MockRemoteCollectionService<Product>(collection: [], delay: .zero)
            mock.failure = RemoteError.unavailable()
            var last = SyncRecord()
            do {
                let shop = try SyncedShop(at: url, mock: mock)
                let engine = shop.engine()
                try await engine.saveDocument(Product("a"))
                var parts: [Double] = []
                while true {
                    last = try await Self.record(of: shop) { $0.failures > last.failures }
                    let ceiling = [2: 4, 3: 8, 4: 16, 5: 32][last.failures] ?? (last.failures == 1 ? 2 : 60)
                    parts.append(Double(last.delayMicroseconds) / Double(ceiling * 1_000_000))
                    // So that what is left of it can be seen by the next process, and isn't the first step.
                    if last.failures >= 8, last.delayMicroseconds > 40_000_000 { break }
                    try await engine.retryNow()
                }
                #expect(parts.allSatisfy { (0...1).contains($0) }, "\(parts)")
                #expect(parts.contains { $0 < 0.9 }, "\(parts)")
                try await shop.storage.close()
            }
            let shop = try SyncedShop(at: url, mock: mock)
            let engine = shop.engine()
            try await engine.saveDocument(Product("b"))
            try await eventually {
                guard case .waiting(let date) = engine.status.connection else { return false }
                return abs(date.timeIntervalSince1970 - Double(last.retryTime) / 1_000_000) < 0.001
            }
            #expect(try await Self.record(of: shop) == last)
            try await engine.retryNow()
            let next = try await Self.record(of: shop) { $0.failures > last.failures }
            #expect(next.failures > last.failures)
            mock.failure = nil
            try await engine.retryNow()
            try await engine.settled()
            #expect(try await Self.record(of: shop).failures == 0)
            try await shop.storage.close()
        }
    }

    private static func record(
        of shop: SyncedShop, where isIncluded: (SyncRecord) -> Bool = { _ in true }
    ) async throws -> SyncRecord {
        var record = SyncRecord()
        try await eventually {
            let text = try await shop.storage.read {
                try String.fetchOne($0, sql: "SELECT record FROM sync_remotes") ?? "{}"
            }
            guard let found = try? JSONDecoder().decode(SyncRecord.self, from: Data(text.utf8)) else { return false }
            record = found
            return isIncluded(found)
        }
        return record
    }

    @Test("Failing streams are read again")
    func failingStreamsAreReopened() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        await engine.startListening()
        shop.mock.failure = RemoteError.unavailable()
        try await eventually { if case .waiting = engine.status.connection { true } else { false } }
        shop.mock.failure = nil
        shop.mock.change(Product("b"))
        try await engine.retryNow()
        try await eventually { engine.currentCollection.map(\.id) == ["a", "b"] }
        // Both streams are open again.
        shop.mock.change(Product("c"))
        shop.mock.remove(id: "a")
        try await eventually { engine.currentCollection.map(\.id) == ["b", "c"] }
    }

    @Test("Repeated writes keep their order, and nulls survive")
    func repeatedWritesKeepOrder() async throws {
        let shop = try SyncedShop([Product("a", note: "old")])
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.lostAnswers = 2
        try await engine.updateDocument(id: "a", data: ["note": String?.none])
        try await engine.updateDocument(id: "a", data: ["name": "Lamp"])
        try await engine.settled()
        #expect(shop.mock.collection == [Product("a", name: "Lamp")])
        #expect(shop.mock.writes.last == .update(id: "a", fields: ["name"]))
        #expect(engine.currentCollection == shop.mock.collection)
    }

    @Test("A streamed change writes its own row only")
    func streamedChangeWritesOneRow() async throws {
        let shop = try SyncedShop((0..<200).map { Product("p\($0)") })
        let engine = shop.engine()
        await engine.startListening()
        let head = shop.storage.head
        shop.mock.change(Product("p7", price: 9))
        try await eventually { engine.getDocument(id: "p7")?.price == 9 }
        #expect(shop.storage.head == head + 1)
        // Nor does fetching what is there already.
        await engine.startListening()
        #expect(shop.storage.head == head + 1)
    }
}
