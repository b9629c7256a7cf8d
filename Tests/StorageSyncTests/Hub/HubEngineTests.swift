import Foundation
import PredicateTestSupport
import StorageCore
import StorageKit
import StorageTesting
import Synchronization
import TestSupport
import Testing

@testable import StorageSync

/// Engines on a hub, which loses requests and answers at times.
@MainActor @Suite(.timeLimit(.minutes(10))) struct HubEngineTests {
    @Test("Writes arrive once and in order")
    func writesArriveOnceInOrder() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            for number in 0..<5 { try await device.engine.saveDocument(Product("p1", name: "\(number)")) }
            let receipt = try await device.engine.saveDocument(Product("p2"))
            try await receipt.confirmed()
            #expect(try await hub.fields(of: "p1")["name"] == #""4""#)
            #expect(device.engine.pendingCount == 0)
            let before = try await hub.hub.head()
            try await device.close()
            let again = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            await again.engine.startListening()
            #expect(again.engine.currentCollection.map(\.id) == ["p1", "p2"])
            #expect(try await hub.hub.head() == before, "nothing is sent twice")
            try await again.close()
        }
    }

    /// Nothing but what is asked for is read while nobody listens.
    @Test("A document that isn't in the store is changed")
    func changingUnknownDocument() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            try await hub.save(Product("p1", name: "one", price: 2))
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            try await device.engine.updateDocument(id: "p1", data: ["price": 3.5]).confirmed()
            #expect(try await hub.fields(of: "p1")["price"] == "3.5")
            #expect(try await hub.fields(of: "p1")["name"] == #""one""#)
            await #expect(throws: StorageError.self) {
                try await device.engine.updateDocument(id: "none", data: ["price": 3.5])
            }
            try await device.close()
        }
    }

    @Test("Changes of others are shown")
    func othersChangesAreShown() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            try await hub.save(Product("p1"))
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            await device.engine.startListening()
            #expect(device.engine.currentCollection.map(\.id) == ["p1"])
            try await hub.save(Product("p2"))
            try await eventually { device.engine.currentCollection.map(\.id) == ["p1", "p2"] }
            _ = try await hub.hub.write(.delete, to: "p1", of: "goods", as: .full)
            try await eventually { device.engine.currentCollection.map(\.id) == ["p2"] }
            device.engine.stopListening(clearCaches: false)
            try await hub.save(Product("p3"))
            // Time for a page that must not come.
            try await Task.sleep(for: .milliseconds(50))
            #expect(device.engine.currentCollection.map(\.id) == ["p2"])
            await device.engine.startListening()
            #expect(device.engine.currentCollection.map(\.id) == ["p2", "p3"])
            try await device.close()
        }
    }

    /// The store's clock stands still, so a pull that the core has put off never begins.
    @Test("A change right after the snapshot is received without a pause", arguments: [false, true])
    func changeAfterSnapshot(isEmpty: Bool) async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            if !isEmpty { try await hub.save(Product("p1")) }
            let device = try HubDevice(
                at: folder.appendingPathComponent("a.sqlite"), hub, config: StorageConfig(clock: ManualClock()))
            await device.engine.startListening()
            try await hub.save(Product("p2"))
            try await eventually { device.engine.currentCollection.contains(Product("p2")) }
            try await device.close()
        }
    }

    /// A write that doesn't know of a deletion is parked, and goes once somebody has seen it.
    @Test("A deletion parks a write that doesn't know of it")
    func unknownDeletionParksWrite() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            try await hub.save(Product("p1"))
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            await device.engine.startListening()
            hub.isUp = false
            _ = try await hub.hub.write(.delete, to: "p1", of: "goods", as: .full)
            try await device.engine.saveDocument(Product("p1", name: "late"))
            try await device.engine.saveDocument(Product("p2"))
            hub.isUp = true
            try await device.engine.retryNow()
            try await eventually { device.engine.parked.count == 1 && device.engine.pendingCount == 1 }
            #expect(try await hub.ids() == ["p2"], "it holds back no other document")
            let parked = try #require(device.engine.parked.first)
            try await eventually {
                try await device.engine.retry(parked)
                return try await hub.ids() == ["p1", "p2"]
            }
            #expect(try await hub.fields(of: "p1")["name"] == #""late""#)
            try await device.close()
        }
    }

    /// The row was removed with the hub's document.
    @Test("A retried update shows its document again")
    func retriedUpdateShowsDocument() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            let device = try await HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub, parking: "p1")
            try await device.engine.retry(try #require(device.engine.parked.first))
            let document = Product("p1", name: "mine")
            try await eventually { device.engine.currentCollection == [document] }
            hub.isUp = true
            try await device.engine.retryNow()
            try await eventually { try await device.unconfirmed() == 0 }
            #expect(try await hub.products() == [document])
            #expect(try await device.stored() == [document])
            #expect(device.engine.currentCollection == [document])
            try await device.close()
        }
    }

    /// Nothing is sent for it, and the hub has no outcome for its number.
    @Test("A row that JSON can't express is parked until it is corrected, and other documents are sent")
    func unsendableRowIsParked() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            await device.engine.startListening()
            try await device.container.storage.save([Product("p1", price: .infinity), Product("p2")])
            try await eventually {
                device.engine.parked.map(\.documentId) == ["p1"] && device.engine.pendingCount == 1
            }
            #expect(try await hub.ids() == ["p2"])
            try await device.engine.saveDocument(Product("p1", price: 2))
            try await device.engine.discard(try #require(device.engine.parked.first))
            try await eventually { try await device.unconfirmed() == 0 }
            #expect(try await hub.products() == [Product("p1", price: 2), Product("p2")])
            #expect(try await device.stored() == hub.products())
            try await device.close()
        }
    }

    @Test("A conflict is retried while nobody listens")
    func retryWithoutListener() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            try await hub.save(Product("p1"))
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            try await device.engine.updateDocument(id: "p1", data: ["price": 3.0]).confirmed()
            let read = try #require(device.engine.getDocument(id: "p1"))
            try await hub.save(Product("p1", name: "theirs"))
            try await device.engine.updateDocument(
                id: "p1", data: ["price": 2.0], expecting: .unchanged(since: read))
            try await eventually { device.engine.parked.count == 1 }
            try await device.engine.retry(try #require(device.engine.parked.first))
            try await eventually { device.engine.pendingCount == 0 }
            #expect(try await hub.products() == [Product("p1", name: "theirs", price: 2)])
            try await device.close()
        }
    }

    // MARK: Unicode

    /// As bytes: to `String`, both are equal.
    private let spellings = (composed: "caf\u{e9}", decomposed: "cafe\u{301}")

    @Test("A change of the Unicode spelling only is sent")
    func spellingIsSent() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            try await hub.save(Product("p1", name: spellings.composed))
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            await device.engine.startListening()
            let (read, name) = (Product("p1", name: spellings.composed), spellings.decomposed)
            try await device.engine.updateDocument(id: "p1", data: ["name": name]).confirmed()
            #expect(try await hub.products().map { Array($0.name.utf8) } == [Array(name.utf8)])
            await #expect(throws: StorageError.self, "it isn't the document that was read") {
                try await device.engine.updateDocument(
                    id: "p1", data: ["price": 2.0], expecting: .unchanged(since: read))
            }
            try await device.close()
        }
    }

    @Test("A change of the Unicode spelling only is received")
    func spellingIsReceived() async throws {
        let later = Product("p1", name: spellings.decomposed)
        try await receive(later, afterOwn: ["name": spellings.composed]) { device in
            let expected = [Array(spellings.decomposed.utf8)]
            try await eventually { try await device.stored().map { Array($0.name.utf8) } == expected }
        }
    }

    // MARK: Conflicts in the history

    /// Whether the page is received before the write is sent or after it, and whether it changes the row or not.
    @Test(
        "Each conflict is in the log",
        arguments: [(true, "mine", 2.0), (false, "mine", 2), (true, "theirs", 2), (false, "theirs", 2)])
    func conflictsAreLogged(pullsFirst: Bool, name: String, price: Double) async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            let ids = (0..<50).map { "p\(10 + $0)" }
            for id in ids { try await hub.save(Product(id, name: "mine")) }
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            await device.engine.startListening()
            hub.isUp = false
            for id in ids { try await device.engine.updateDocument(id: id, data: ["price": price]) }
            for id in ids { try await hub.save(Product(id, name: name, price: 3)) }
            hub.pages = pullsFirst ? .max : 0
            hub.isUp = true
            try await device.engine.retryNow()
            if !pullsFirst {
                try await eventually { try await hub.products().allSatisfy { $0.price == price } }
                hub.pages = .max
                try await device.engine.retryNow()
            }
            try await eventually { try await device.unconfirmed() == 0 }
            #expect(try await device.stored() == ids.map { Product($0, name: name, price: price) })
            #expect(try await hub.products() == device.stored())
            let named = try await device.received("conflicts")
            #expect(named.sorted() == ids)
            try await device.close()
        }
    }

    @Test("A later change of others isn't a conflict")
    func laterChangeIsNoConflict() async throws {
        let later = Product("p1", name: "later", price: 3)
        try await receive(later, afterOwn: ["price": 2.0]) { device in
            try await eventually { try await device.stored() == [later] }
            #expect(try await device.received("conflicts").isEmpty)
        }
    }

    /// A device whose write the hub has confirmed receives it with a later one of another client, or just before that: a page that
    /// was asked for earlier may have the write alone.
    private func receive(
        _ later: Product, afterOwn data: [String: any DMCodableSendable], _ check: (HubDevice) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            try await hub.save(Product("p1"))
            let device = try HubDevice(at: folder.appendingPathComponent("a.sqlite"), hub)
            await device.engine.startListening()
            hub.pages = 0
            try await device.engine.updateDocument(id: "p1", data: data).confirmed()
            try await hub.save(later)
            hub.pages = .max
            try await device.engine.retryNow()
            try await eventually { try await device.unconfirmed() == 0 }
            try await check(device)
            try await device.close()
        }
    }

    /// The hub shows a column that the device's type doesn't have, so that each own change comes back as more than was sent.
    @Test("A merge begins with the last state that both sides had")
    func mergeBeginsWithConfirmedState() async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            try await hub.save(Product("p1", price: 10))
            @MainActor func change(_ field: String, to json: String) async throws {
                _ = try await hub.hub.write(.patch([field: .text(json)]), to: "p1", of: "goods", as: .full)
            }
            try await change("color", to: #""red""#)
            let device = try HubDevice(
                at: folder.appendingPathComponent("a.sqlite"), hub,
                conflictResolution: .merge { base, mine, theirs in
                    var merged = theirs
                    merged.price += mine.price - (base?.price ?? 0)
                    return merged
                })
            await device.engine.startListening()
            hub.batches = 0
            try await device.engine.updateDocument(id: "p1", data: ["price": 11.0])
            // Each is made while the one before is being sent, so that no two are sent as one.
            try await eventually { try await device.states() == ["sending"] }
            try await device.engine.updateDocument(id: "p1", data: ["price": 12.0])
            hub.batches = 1
            try await eventually { try await device.states() == ["confirmed", "sending"] }
            try await device.engine.updateDocument(id: "p1", data: ["price": 13.0])
            hub.batches = 1
            try await eventually { try await device.states() == ["confirmed", "confirmed", "sending"] }
            try await change("price", to: "17")
            hub.batches = .max
            try await eventually { try await device.unconfirmed() == 0 }
            #expect(try await hub.products() == [Product("p1", price: 18)])
            #expect(try await device.stored() == hub.products())
            try await device.close()
        }
    }

    // MARK: Convergence

    @Test("Devices and hub converge", arguments: testSeeds(4))
    func devicesAndHubConverge(seed: UInt64) async throws {
        try await withTemporaryFolder { folder in
            var random = PredicateGenerator(seed: seed)
            let hub = try await FaultyHub(TemporaryStore())
            hub.random = PredicateGenerator(seed: seed &+ 1)
            for number in 0..<3 { try await hub.save(Product("p\(number)")) }
            var devices: [HubDevice] = []
            for number in 0..<3 {
                devices.append(try HubDevice(at: folder.appendingPathComponent("\(number).sqlite"), hub))
            }
            for step in 0..<40 {
                let place = Int.random(in: 0..<devices.count, using: &random)
                try await devices[place].act(step, &random)
                switch Int.random(in: 0..<12, using: &random) {
                case 0: devices[place] = try await devices[place].restarted()
                case 1: hub.isUp.toggle()
                case 2: hub.losesAnswers.toggle()
                case 3: try await hub.save(Product("p\(step % 5)", name: "hub \(step)"))
                case 4: _ = try await hub.hub.write(.delete, to: "p\(step % 5)", of: "goods", as: .full)
                // Time for devices and hub to exchange something.
                case 5...7: try await Task.sleep(for: .milliseconds(5))
                default: break
                }
            }
            (hub.isUp, hub.losesAnswers) = (true, false)
            for device in devices { try await device.heal() }
            for device in devices {
                try await eventually {
                    let products = try await hub.products()
                    return try await device.stored() == products && device.engine.currentCollection == products
                        && device.engine.pendingCount == 0
                }
                let products = try await hub.products()
                #expect(device.engine.pendingCount == 0, "seed \(seed)")
                #expect(device.engine.currentCollection == products, "seed \(seed)")
                #expect(try await device.stored() == products, "seed \(seed)")
                try await device.close()
            }
        }
    }
}
