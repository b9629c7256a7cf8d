import Foundation
import StorageSync
import Testing

/// The defects of the engines that ours are modelled on, each by its name.
@MainActor @Suite struct ReferenceDefectTests {
    @Test func failedSavesAndDeletesAreQueuedToo() async throws {
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

    @Test func aLaterUpdateDoesntClearFieldsThatWereNeverSent() async throws {
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

    @Test func pendingWritesGoOutByThemselvesAndAreNotOverwrittenByTheBulkLoad() async throws {
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

    @Test func stoppingKeepsPendingWrites() async throws {
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

    @Test func delaysGrowWithEachFailureAndAFailingStreamIsReadAgain() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        await engine.startListening()
        // Ends both streams.
        shop.mock.failure = RemoteError.unavailable()
        try await eventually { if case .waiting = engine.status.connection { true } else { false } }
        for _ in 0..<3 {
            try await engine.retryNow()
            try await Task.sleep(for: .milliseconds(20))
        }
        try await eventually {
            let record = try await shop.storage.read {
                try String.fetchOne($0, sql: "SELECT record FROM sync_remotes") ?? ""
            }
            return record.contains("\"failures\":4") || record.contains("\"failures\":5")
        }
        shop.mock.failure = nil
        shop.mock.change(Product("b"))
        try await engine.retryNow()
        try await eventually { engine.currentCollection.map(\.id) == ["a", "b"] }
    }

    @Test func repeatedWritesKeepTheirOrderAndNullsSurvive() async throws {
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

    @Test func aStreamedChangeWritesItsOwnRowOnly() async throws {
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
