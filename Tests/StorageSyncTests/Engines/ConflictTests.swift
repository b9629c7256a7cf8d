import Foundation
import StorageSync
import Synchronization
import TestSupport
import Testing

/// What a write expects of its document, and what becomes of documents that are changed on both sides.
@MainActor @Suite struct ConflictTests {
    private let meanwhile = "another client has changed the document meanwhile"

    private func engine(
        _ shop: SyncedShop, _ resolution: ConflictResolution<Product>
    ) -> CollectionSyncEngine<Product> {
        withDatabaseContainer(shop.container) {
            CollectionSyncEngine(remote: shop.remote, managerKey: "products", conflictResolution: resolution)
        }
    }

    /// What the commits of the engine say.
    private func commits(_ shop: SyncedShop) async throws -> [CommitMetadata] {
        var commits: [CommitMetadata] = []
        for try await event in shop.storage.log.events(LogQuery(tables: ["products"])) {
            if event.commit.metadata.actor == "sync products" { commits.append(event.commit.metadata) }
        }
        return commits
    }

    @Test("A write whose precondition fails at the remote is parked")
    func failedPreconditionIsParked() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp"), Product("b")])
        let engine = shop.engine()
        await engine.startListening()
        try await shop.hold(engine)
        let read = try #require(engine.getDocument(id: "a"))
        let receipt = try await engine.updateDocument(
            id: "a", data: ["price": 2.0], expecting: .unchanged(since: read))
        let other = try await engine.updateDocument(id: "b", data: ["price": 2.0])
        shop.mock.change(Product("a", name: "Light"))
        shop.mock.change(Product("b", name: "Bulb"))
        try await shop.release(engine)
        await #expect(throws: SyncWriteError.rejected(meanwhile)) { try await receipt.confirmed() }
        try await other.confirmed()
        #expect(engine.parked.map(\.reason) == [meanwhile])
        // What the remote has is received, and the write stays on top of it until somebody decides.
        try await eventually { engine.getDocument(id: "a") == Product("a", name: "Light", price: 2) }
        #expect(shop.mock.document("a") == Product("a", name: "Light"))
        #expect(shop.mock.document("b") == Product("b", name: "Bulb", price: 2))
        // Others may have come with the same page.
        let conflicts = try await commits(shop).compactMap { $0.attributes["conflicts"]?.split(separator: " ") }
        #expect(conflicts.contains { $0.contains("a") })
        // Sent again, it is made on what was received.
        try await engine.retry(try #require(engine.parked.first))
        try await engine.settled()
        #expect(shop.mock.document("a") == Product("a", name: "Light", price: 2))
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    @Test("A write whose precondition holds is accepted")
    func heldPreconditionIsSent() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = shop.engine()
        await engine.startListening()
        try await shop.hold(engine)
        // Writes of one's own are no conflicts.
        for price in [2.0, 3.0, 4.0] {
            let read = try #require(engine.getDocument(id: "a"))
            try await engine.updateDocument(id: "a", data: ["price": price], expecting: .unchanged(since: read))
        }
        try await engine.saveDocument(Product("n", name: "new"), expecting: .absent)
        try await shop.release(engine)
        try await engine.settled()
        let read = try #require(engine.getDocument(id: "a"))
        try await engine.deleteDocument(id: "a", expecting: .unchanged(since: read))?.confirmed()
        #expect(shop.remoteProducts.map(\.id) == ["n", "z"])
        try await engine.settled()
    }

    @Test("A write whose answer was lost doesn't conflict with itself")
    func lostAnswerIsNoConflict() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.lostAnswers = 1
        let read = try #require(engine.getDocument(id: "a"))
        try await engine.updateDocument(id: "a", data: ["price": 2.0], expecting: .unchanged(since: read))
        try await eventually { shop.remote.attempts.count == 1 }
        try await engine.settled()
        #expect(shop.mock.document("a")?.price == 2)
        #expect(engine.getDocument(id: "a")?.price == 2)
    }

    @Test("A precondition that fails in the store is refused at once")
    func localPreconditionFails() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = shop.engine()
        await engine.startListening()
        let head = shop.storage.head
        for expectation in [SyncPrecondition.absent, .unchanged(since: Product("a", name: "Light"))] {
            let error = await #expect(throws: StorageError.self) {
                try await engine.updateDocument(id: "a", data: ["price": 2.0], expecting: expectation)
            }
            #expect(error?.code == .conflict)
        }
        #expect(shop.storage.head == head)
        #expect(engine.pendingCount == 0)
    }

    @Test("An engine can park each conflict")
    func parkingEachConflict() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp"), Product("b")])
        let engine = engine(shop, .park)
        await engine.startListening()
        try await shop.hold(engine)
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        try await engine.updateDocument(id: "b", data: ["price": 2.0])
        shop.mock.change(Product("a", name: "Light"))
        shop.mock.remove(id: "b")
        try await shop.release(engine)
        try await eventually { engine.parked.count == 2 }
        #expect(engine.parked.map(\.reason) == [meanwhile, "another client has deleted the document"])
        for write in engine.parked { try await engine.discard(write) }
        try await engine.settled()
        try await eventually { engine.currentCollection == shop.remoteProducts }
        #expect(shop.remoteProducts == [Product("a", name: "Light"), Product("z")])
        #expect(try await shop.stored() == shop.remoteProducts)
    }
}

// MARK: Merging

extension ConflictTests {
    /// What a closure was asked.
    private struct Conflict: Equatable {
        let base: Product?
        let mine: Product
        let theirs: Product
    }

    @Test("A closure merges what both sides changed")
    func mergingByClosure() async throws {
        let conflicts = Mutex<[Conflict]>([])
        let shop = try SyncedShop([Product("a", name: "Lamp", price: 10)])
        let engine = engine(
            shop,
            .merge { base, mine, theirs in
                conflicts.withLock { $0.append(Conflict(base: base, mine: mine, theirs: theirs)) }
                var merged = theirs
                merged.price += mine.price - (base?.price ?? 0)
                return merged
            })
        await engine.startListening()
        try await shop.hold(engine)
        let receipt = try await engine.updateDocument(id: "a", data: ["price": 11.0])
        try await engine.updateDocument(id: "a", data: ["price": 12.0])
        shop.mock.change(Product("a", name: "Light", price: 15))
        try await shop.release(engine)
        try await receipt.confirmed()
        try await engine.settled()
        #expect(shop.mock.document("a") == Product("a", name: "Light", price: 17))
        #expect(try await shop.stored() == shop.remoteProducts)
        #expect(engine.currentCollection == shop.remoteProducts)
        #expect(
            conflicts.withLock { $0 }.last
                == Conflict(
                    base: Product("a", name: "Lamp", price: 10), mine: Product("a", name: "Lamp", price: 12),
                    theirs: Product("a", name: "Light", price: 15)))
        let merge = try #require(try await commits(shop).first { $0.reason == "merge" })
        #expect(merge.attributes["merged"] == "a")
        // The next one begins with what was merged.
        try await shop.hold(engine, with: "again")
        try await engine.updateDocument(id: "a", data: ["price": 18.0])
        shop.mock.change(Product("a", name: "Light", price: 20))
        try await shop.release(engine)
        try await engine.settled()
        #expect(shop.mock.document("a")?.price == 21)
        #expect(engine.getDocument(id: "a")?.price == 21)
    }

    @Test("A conflict that the closure doesn't merge is parked", arguments: [true, false])
    func unmergedConflictIsParked(throwsError: Bool) async throws {
        struct Undecided: Error, CustomStringConvertible {
            var description: String { "too different" }
        }
        let shop = try SyncedShop([Product("a", name: "Lamp", price: 10)])
        let engine = engine(
            shop,
            .merge { _, _, _ in
                if throwsError { throw Undecided() }
                return nil
            })
        await engine.startListening()
        try await shop.hold(engine)
        let receipt = try await engine.updateDocument(id: "a", data: ["price": 11.0])
        shop.mock.change(Product("a", name: "Light", price: 15))
        try await shop.release(engine)
        try await eventually { engine.parked.first?.reason.contains("weren't merged") == true }
        await #expect(throws: SyncWriteError.self) { try await receipt.confirmed() }
        #expect(engine.parked.first?.reason.contains("too different") == throwsError)
        try await eventually { engine.getDocument(id: "a") == Product("a", name: "Light", price: 11) }
        try await engine.retry(try #require(engine.parked.first))
        try await engine.settled()
        #expect(shop.mock.document("a") == Product("a", name: "Light", price: 11))
    }

    @Test("A merged document that JSON can't express is parked")
    func unsendableMergeIsParked() async throws {
        let shop = try SyncedShop([Product("a", price: 10)])
        let engine = engine(
            shop,
            .merge { _, _, theirs in
                var merged = theirs
                merged.price = .infinity
                return merged
            })
        await engine.startListening()
        try await shop.hold(engine)
        try await engine.updateDocument(id: "a", data: ["price": 11.0])
        shop.mock.change(Product("a", name: "Light", price: 15))
        try await shop.release(engine)
        try await eventually { engine.parked.map(\.documentId) == ["a"] }
        #expect(engine.parked.first?.reason.contains("weren't merged") == true)
        #expect(engine.parked.first?.reason.contains("can't be written as JSON") == true)
        try await eventually { engine.getDocument(id: "a") == Product("a", name: "Light", price: 11) }
        #expect(shop.mock.document("a") == Product("a", name: "Light", price: 15))
    }

    @Test("A deletion wins over a merge")
    func deletionWinsOverMerge() async throws {
        let shop = try SyncedShop([Product("a"), Product("b")])
        let engine = engine(shop, .merge { _, mine, _ in mine })
        await engine.startListening()
        try await shop.hold(engine)
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        try await engine.deleteDocument(id: "b")
        shop.mock.remove(id: "a")
        shop.mock.change(Product("b", price: 9))
        try await shop.release(engine)
        try await eventually { engine.parked.count == 1 && shop.mock.document("b") == nil }
        try await engine.discard(try #require(engine.parked.first))
        try await engine.settled()
        #expect(shop.remoteProducts == [Product("z")])
        try await eventually { engine.currentCollection == [Product("z")] }
    }

    @Test("A document that both sides created is merged without a base")
    func mergingWithoutBase() async throws {
        let shop = try SyncedShop()
        let engine = engine(
            shop,
            .merge { base, mine, theirs in
                #expect(base == nil)
                return Product(mine.id, name: "\(theirs.name) and \(mine.name)")
            })
        await engine.startListening()
        try await shop.hold(engine)
        try await engine.saveDocument(Product("a", name: "mine"))
        shop.mock.change(Product("a", name: "theirs"))
        try await shop.release(engine)
        try await engine.settled()
        #expect(shop.mock.document("a")?.name == "theirs and mine")
        #expect(engine.getDocument(id: "a")?.name == "theirs and mine")
    }
}

extension MockRemoteCollectionService {
    fileprivate func document(_ id: String) -> T? { collection.first { $0.id == id } }
}
