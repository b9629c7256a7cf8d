import Foundation
import StorageCore
import StorageKit
import StorageTesting
import TestSupport
import Testing

@testable import StorageSync

/// What engines on a hub do when something isn't as they left it.
@MainActor @Suite(.timeLimit(.minutes(10))) struct HubRecoveryTests {
    private func withDevice(
        account: Account = Account("hub"), conflictResolution: ConflictResolution<Product> = .lastWriterWins,
        logger: (any DataSyncLogger)? = nil, _ body: (HubDevice) async throws -> Void
    ) async throws {
        try await withTemporaryFolder { folder in
            let hub = try await FaultyHub(TemporaryStore())
            let device = try HubDevice(
                at: folder.appendingPathComponent("a.sqlite"), hub, account: account,
                conflictResolution: conflictResolution, logger: logger)
            try await body(device)
            try await device.close()
        }
    }

    // MARK: What writes were made on

    /// Everything is asked for again after the caches were cleared; a pending write is still one that knew what was there.
    @Test("A pending write keeps its base", arguments: [true, false])
    func pendingWriteKeepsItsBase(isConditional: Bool) async throws {
        try await withDevice(conflictResolution: isConditional ? .park : .lastWriterWins) { device in
            let hub = device.hub
            try await hub.save(Product("p1"))
            _ = try await hub.hub.write(.delete, to: "p1", of: "goods", as: .full)
            try await hub.save(Product("p1", name: "again"))
            await device.engine.startListening()
            hub.isUp = false
            try await device.engine.updateDocument(id: "p1", data: ["price": 2.5])
            device.engine.stopListening()
            hub.isUp = true
            await device.engine.startListening()
            try await device.engine.retryNow()
            try await eventually { try await hub.fields(of: "p1")["price"] == "2.5" }
            #expect(device.engine.parked.isEmpty)
        }
    }

    /// A program that only writes keeps no outbox of what was taken.
    @Test("An applied write is confirmed without listening")
    func confirmationWithoutListening() async throws {
        try await withDevice { device in
            try await device.hub.save(Product("p0", name: "theirs", price: 7))
            for number in 0..<20 {
                let receipt = try await device.engine.saveDocument(Product("p\(number % 5 + 1)", name: "\(number)"))
                if number % 4 == 3 { try await receipt.confirmed() }
            }
            try await eventually { try await device.unconfirmed() == 0 }
            #expect(try await device.stored().map(\.id) == ["p1", "p2", "p3", "p4", "p5"])
            _ = try await device.hub.hub.write(.patch(["note": .text(#""seen""#)]), to: "p2", of: "goods", as: .full)
            await device.engine.startListening()
            let products = try await device.hub.products()
            #expect(device.engine.currentCollection == products)
            #expect(products.count == 6)
            #expect(products[2].note == "seen")
            #expect(products[2].name == "16")
        }
    }

    // MARK: Documents

    /// Something else than a product was written by another program.
    @Test("An unreadable document blocks nothing")
    func unreadableDocument() async throws {
        try await withDevice { device in
            let hub = device.hub
            try await hub.save(Product("p1"))
            _ = try await hub.hub.write(.save(["n": .text("1")]), to: "p2", of: "goods", as: .full)
            try await hub.save(Product("p3"))
            await device.engine.startListening()
            #expect(device.engine.currentCollection.map(\.id) == ["p1", "p3"])
            #expect(device.engine.status.unreadable.map(\.documentId) == ["p2"])
            try await device.engine.saveDocument(Product("p4")).confirmed()
            await #expect(throws: StorageError.self) {
                try await device.engine.updateDocument(id: "p2", data: ["price": 2.5])
            }
            // What is missing comes, in two steps.
            let first = ["name": #""two""#, "id": #""p2""#].mapValues { StorageValue.text($0) }
            _ = try await hub.hub.write(.patch(first), to: "p2", of: "goods", as: .full)
            _ = try await hub.hub.write(.patch(["price": .text("2")]), to: "p2", of: "goods", as: .full)
            try await eventually { device.engine.currentCollection.map(\.id) == ["p1", "p2", "p3", "p4"] }
            #expect(device.engine.currentCollection[1] == Product("p2", name: "two", price: 2))
            #expect(device.engine.status.unreadable.isEmpty)
            // And goes again.
            _ = try await hub.hub.write(.patch(["price": .text(#""dear""#)]), to: "p2", of: "goods", as: .full)
            try await eventually { device.engine.status.unreadable.map(\.documentId) == ["p2"] }
            #expect(device.engine.currentCollection[1].price == 2, "the row stays as it was")
            _ = try await hub.hub.write(.delete, to: "p2", of: "goods", as: .full)
            try await eventually { device.engine.currentCollection.map(\.id) == ["p1", "p3", "p4"] }
            #expect(device.engine.status.unreadable.isEmpty)
        }
    }

    /// All is asked for again, and the network goes behind the first page.
    @Test("Nothing vanishes before everything is received again")
    func refetchKeepsDocuments() async throws {
        try await withDevice { device in
            let hub = device.hub
            for number in 0..<7 { try await hub.save(Product("p\(number)")) }
            await device.engine.startListening()
            #expect(device.engine.currentCollection.count == 7)
            hub.pageLimit = 2
            hub.pages = 1
            try await device.engine.startOver()
            await device.engine.startListening()
            #expect(device.engine.currentCollection.count == 7)
            _ = try await hub.hub.write(.delete, to: "p0", of: "goods", as: .full)
            _ = try await hub.hub.write(.delete, to: "p5", of: "goods", as: .full)
            try await device.engine.updateDocument(id: "p5", data: ["price": 2.5])
            hub.pages = .max
            try await device.engine.retryNow()
            try await eventually { device.engine.currentCollection.map(\.id) == ["p1", "p2", "p3", "p4", "p6"] }
            let parked = try #require(device.engine.parked.first)
            try await device.engine.discard(parked)
            #expect(try await device.stored() == hub.products())
        }
    }

    /// Ids are equal where their bytes are.
    @Test("Two spellings of an id are two documents")
    func idsCompareByBytes() async throws {
        try await withDevice { device in
            let ids = ["\u{e9}", "e\u{301}"]
            for (number, id) in ids.enumerated() { try await device.hub.save(Product(id, price: Double(number))) }
            await device.engine.startListening()
            #expect(device.engine.currentCollection.map(\.price) == [1, 0])
            try await device.container.storage.write { tx in
                for (number, id) in ids.enumerated() { try tx.save(Product(id, price: Double(number + 5))) }
            }
            try await eventually { device.engine.currentCollection.map(\.price) == [6, 5] }
            try await eventually { try await device.hub.products().map(\.price).sorted() == [5, 6] }
        }
    }

    /// What others can do with a document that a device has created or fetched while it doesn't listen.
    enum Disappearance: CaseIterable {
        case deletionOfCreated, deletionOfFetched, hiding
    }

    /// The next page has neither the document's creation nor its end.
    @Test(
        "A document that is gone before a listener returns disappears",
        arguments: Disappearance.allCases, [false, true])
    func goneBeforeListening(_ end: Disappearance, isRestarted: Bool) async throws {
        try await withDevice { first in
            let hub = first.hub
            hub.access = seeing(.less, 6)
            try await hub.save(Product("p0"))
            await first.engine.startListening()
            first.engine.stopListening(clearCaches: false)
            let device = isRestarted ? try await first.restarted() : first
            try await device.engine.saveDocument(Product("p2")).confirmed()
            if end == .deletionOfFetched {
                try await hub.save(Product("p1"))
                try await device.engine.updateDocument(id: "p1", data: ["price": 2.0]).confirmed()
            } else {
                try await device.engine.saveDocument(Product("p1")).confirmed()
            }
            try await eventually { try await device.unconfirmed() == 0 }
            #expect(device.engine.currentCollection.map(\.id) == ["p0", "p1", "p2"])
            let operation: WriteOperation = end == .hiding ? .patch(["price": .text("9")]) : .delete
            _ = try await hub.hub.write(operation, to: "p1", of: "goods", as: .full)
            await device.engine.startListening()
            try await eventually { device.engine.currentCollection.map(\.id) == ["p0", "p2"] }
            #expect(try await device.stored() == device.engine.currentCollection)
            if isRestarted { try await device.close() }
        }
    }

    /// A token may see goods of such prices.
    private func seeing(_ comparison: RowPredicate.Comparison, _ price: Int64) -> HubAccess {
        let condition = RowPredicate.comparison(column: "price", comparison, .value(.integer(price)))
        return HubAccess(
            actor: "hub", namespace: "",
            grants: [.init(entity: "goods", reads: true, writes: true, condition: condition)])
    }

    /// As a collection, though it also is a remote of single documents.
    private func access<Remote: RemoteCollectionService>(to remote: Remote) -> RemoteAccess<Remote.T> {
        RemoteAccess(remote)
    }

    /// It may be deleted before a page contains its creation, and the answer that ends a listener's pages may get lost.
    @Test("A fetched document is followed by an end of the pages")
    func endAfterFetchedDocument() async throws {
        let hub = try await FaultyHub(TemporaryStore())
        try await hub.save(Product("p0"))
        let goods = HubGoods(hub)
        let store = SyncStore<Product>(
            storage: try SyncedShop().storage, manager: "products", path: "hub", hasRemotePositions: true)
        let remote = HubRemote(
            access(to: goods), goods, store: store, row: SyncRemoteRow(path: "hub"), document: nil)
        await remote.setListening(true)
        var position = try await hub.hub.head()
        func pull() async throws -> SyncPage {
            let request = SyncRequest.Kind.pull(line: hub.hub.line, position: position)
            guard case .page(let page) = try await remote.answer(request, knowing: SyncRecord()) else {
                throw SyncFailure.sessionEnded(epoch: nil)
            }
            position = page.end
            return page
        }
        #expect(try await pull().part == .last)
        #expect(await remote.snapshotEnd == position)
        _ = try await remote.answer(.hello(epoch: 1), knowing: SyncRecord())
        try #require(await remote.snapshotEnd == nil, "the answer may have got lost")
        #expect(try await pull().part == .last)
        try await hub.save(Product("p1"))
        try await remote.fetch("p1")
        #expect(try await pull().changes.map(\.document.id) == ["p1"])
        try #require(await remote.snapshotEnd == nil)
        _ = try await hub.hub.write(.delete, to: "p1", of: "goods", as: .full)
        let head = try await hub.hub.head()
        while try await pull().part != .last {}
        #expect(position == head)
    }

    /// A token was replaced by one of the same name that may see other documents.
    @Test("Documents appear and disappear with another access")
    func changedAccess() async throws {
        let recorder = EventRecorder()
        try await withDevice(logger: recorder) { device in
            let hub = device.hub
            for (id, price) in [("p0", 2.0), ("p1", 1), ("p2", 5), ("p3", 9)] {
                try await hub.save(Product(id, price: price))
            }
            hub.access = seeing(.less, 6)
            await device.engine.startListening()
            #expect(device.engine.currentCollection.map(\.id) == ["p0", "p1", "p2"])
            hub.isUp = false
            for id in ["p0", "p2"] { try await device.engine.updateDocument(id: id, data: ["note": "mine"]) }
            // The remote never had this one.
            try await device.engine.saveDocument(Product("p5", price: 5))
            try await eventually { device.engine.status.connection != .connected }
            hub.access = seeing(.greater, 3)
            hub.isUp = true
            try await device.engine.retryNow()
            try await eventually { device.engine.currentCollection.map(\.id) == ["p2", "p3", "p5"] }
            try await eventually { try await hub.fields(of: "p2")["note"] == #""mine""# }
            try await eventually { device.engine.parked.map(\.documentId) == ["p0"] }
            // What is gone is received, like what is there.
            #expect(try await device.received("conflicts") == ["p0"])
            try await eventually { recorder.deletions == ["p0", "p1"] }
            try await device.engine.discard(try #require(device.engine.parked.first))
            try await eventually { device.engine.pendingCount == 0 }
            #expect(device.engine.currentCollection.first?.note == "mine")
            #expect(device.engine.parked.isEmpty)
            #expect(try await device.stored() == device.engine.currentCollection)
            // It is followed on from there.
            try await hub.save(Product("p4", price: 4))
            try await eventually { device.engine.currentCollection.map(\.id) == ["p2", "p3", "p4", "p5"] }
        }
    }

    // MARK: Giving up

    @Test("Unsent writes are discarded")
    func discardingUnsentWrites() async throws {
        try await withDevice { device in
            let hub = device.hub
            try await hub.save(Product("p1", name: "theirs"))
            await device.engine.startListening()
            hub.isUp = false
            let receipt = try await device.engine.updateDocument(id: "p1", data: ["name": "mine"])
            try await device.engine.saveDocument(Product("p2"))
            let ending = Task { try await receipt.confirmed() }
            try await device.engine.discardPending()
            await #expect(throws: SyncWriteError.discarded) { try await ending.value }
            #expect(device.engine.pendingCount == 0)
            #expect(device.engine.currentCollection == [Product("p1", name: "theirs")])
            hub.isUp = true
            try await device.engine.saveDocument(Product("p3")).confirmed()
            #expect(try await hub.products() == [Product("p1", name: "theirs"), Product("p3")])
        }
    }

    // MARK: Hubs and stores of before

    @Test("A hub that was restored is followed")
    func restoredHubIsFollowed() async throws {
        try await withDevice { device in
            let hub = device.hub
            try await device.engine.saveDocument(Product("p1")).confirmed()
            await device.engine.startListening()
            let position = try await hub.hub.head()
            try await device.engine.saveDocument(Product("p2")).confirmed()
            try await hub.save(Product("p3"))
            try await eventually { device.engine.currentCollection.map(\.id) == ["p1", "p2", "p3"] }
            try await hub.restore(to: position)
            #expect(try await hub.ids() == ["p1"])
            try await hub.save(Product("p4"))
            try await device.engine.retryNow()
            try await eventually { device.engine.currentCollection.map(\.id) == ["p1", "p2", "p4"] }
            #expect(try await hub.ids() == ["p1", "p2", "p4"], "what the hub has lost was sent again")
            #expect(!device.engine.status.hasLostWrites)
            #expect(device.engine.parked.isEmpty)
        }
    }

    /// The hub had its writes when the table was cleared, and has lost them when the device listens again.
    @Test("A cleared device shows what a restored hub gets again")
    func clearedDeviceShowsLostWrites() async throws {
        try await withDevice { device in
            let hub = device.hub
            for id in ["p0", "p1", "p2"] { try await hub.save(Product(id)) }
            await device.engine.startListening()
            let position = try await hub.hub.head()
            hub.isUp = false
            for id in ["p0", "p1"] { try await device.engine.updateDocument(id: id, data: ["price": 2.5]) }
            device.engine.stopListening()
            try await eventually { try await device.stored().isEmpty }
            hub.isUp = true
            try await device.engine.retryNow()
            try await eventually { try await device.unconfirmed() == 0 }
            try await hub.restore(to: position)
            #expect(try await hub.products().map(\.price) == [1, 1, 1])
            await device.engine.startListening()
            let products = [Product("p0", price: 2.5), Product("p1", price: 2.5), Product("p2")]
            try await eventually { try await hub.products() == products }
            try await eventually { try await device.unconfirmed() == 0 }
            try await eventually { device.engine.currentCollection == products }
            #expect(try await device.stored() == products)
        }
    }

    /// The device knows it as of a position at which the hub has nothing of it any more.
    @Test("A fetched document stays if a restored hub has an earlier version")
    func restoredBehindFetchedVersion() async throws {
        try await withDevice { device in
            let hub = device.hub
            try await hub.save(Product("p0"))
            await device.engine.startListening()
            device.engine.stopListening(clearCaches: false)
            try await hub.save(Product("p1"))
            let position = try await hub.hub.head()
            try await hub.save(Product("p1", price: 3))
            try await device.engine.updateDocument(id: "p1", data: ["name": "Lamp"]).confirmed()
            try await hub.restore(to: position)
            await device.engine.startListening()
            let products = [Product("p0"), Product("p1", name: "Lamp")]
            try await eventually { try await hub.products() == products }
            try await eventually { try await device.unconfirmed() == 0 }
            try await eventually { device.engine.currentCollection == products }
        }
    }

    @Test("An empty hub's devices lose what others had written to it")
    func emptyHubIsFollowed() async throws {
        try await withDevice { device in
            let hub = device.hub
            try await hub.save(Product("p1"))
            await device.engine.startListening()
            #expect(device.engine.currentCollection.map(\.id) == ["p1"])
            try await hub.recreate()
            try await device.engine.retryNow()
            try await eventually { device.engine.currentCollection.isEmpty }
            try await hub.save(Product("p2"))
            try await eventually { device.engine.currentCollection.map(\.id) == ["p2"] }
        }
    }

    /// The client didn't get the answer, or its own backup is the later one: it sends the request again.
    @Test("A restored hub makes a write with a key again that it has lost", arguments: [0, 5])
    func restoredHubRepeatsLostWrites(others: Int) async throws {
        let hub = try await FaultyHub(TemporaryStore())
        func write(_ id: String, fingerprint: UInt8 = 1) async throws -> HubOutcome {
            try await hub.hub.write(
                .save([:]), to: id, of: "goods",
                key: HubRequestKey(value: "the key of \(id)", fingerprint: [fingerprint]), as: .full)
        }
        let kept = try await write("p1")
        let position = try await hub.hub.head()
        _ = try await write("p2")
        _ = try await write("p3")
        try await hub.restore(to: position)
        // The log of the restored hub may have become longer than that of the lost one.
        for number in 0..<others { try await hub.save(Product("other\(number)")) }
        #expect(try await write("p1") == kept)
        let again = try await write("p2")
        #expect(again.isCreated)
        #expect(try await write("p3", fingerprint: 2).isCreated, "the key wasn't used in this history")
        #expect(try await Array(hub.ids().suffix(3)) == ["p1", "p2", "p3"])
        #expect(try await write("p2") == again)
    }

    @Test("An older copy of the hub halts the device until it starts over")
    func olderHubHalts() async throws {
        let recorder = EventRecorder()
        try await withDevice(logger: recorder) { device in
            let hub = device.hub
            await device.engine.startListening()
            try await device.engine.saveDocument(Product("p1")).confirmed()
            let copy = try await hub.copy()
            try await device.engine.saveDocument(Product("p2")).confirmed()
            try await eventually { try await device.unconfirmed() == 0 }
            try await hub.replace(by: copy)
            try await device.engine.saveDocument(Product("p3"))
            try await device.engine.retryNow()
            try await eventually { device.engine.status.connection.isHalted }
            #expect(try await hub.ids() == ["p1"])
            await device.engine.startListening()
            #expect(recorder.bulkLoadFailures.last?.contains("halted: the remote has lost") == true)
            try await device.engine.startOver()
            await device.engine.startListening()
            // Parked where it was being sent.
            try await eventually {
                if let sent = device.engine.parked.first { try await device.engine.retry(sent) }
                return try await hub.ids() == ["p1", "p3"]
            }
            try await eventually { device.engine.currentCollection.map(\.id) == ["p1", "p3"] }
            #expect(device.engine.status.hasLostWrites)
            try await device.engine.saveDocument(Product("p2")).confirmed()
            #expect(try await hub.ids() == ["p1", "p2", "p3"])
        }
    }

    /// Saves a document and closes the device.
    ///
    /// - Returns: The copy of its store.
    private func closedAndCopied(_ device: HubDevice) async throws -> URL {
        try await device.engine.saveDocument(Product("p1")).confirmed()
        try await device.close()
        let url = device.url.deletingLastPathComponent().appendingPathComponent("copy.sqlite")
        try FileManager.default.copyItem(at: device.url, to: url)
        return url
    }

    @Test("A copy of a device halts until it starts over")
    func copiedDeviceHalts() async throws {
        try await withDevice { device in
            let hub = device.hub
            let url = try await closedAndCopied(device)
            let again = try HubDevice(at: device.url, hub)
            try await again.engine.saveDocument(Product("p2")).confirmed()
            let copy = try HubDevice(at: url, hub)
            try await copy.engine.saveDocument(Product("p3"))
            try await eventually { copy.engine.status.connection.isHalted }
            try await copy.engine.startOver()
            await copy.engine.startListening()
            try await eventually { try await hub.ids() == ["p1", "p2", "p3"] }
            try await eventually { copy.engine.currentCollection.map(\.id) == ["p1", "p2", "p3"] }
            #expect(!copy.engine.status.hasLostWrites)
            try await copy.close()
            try await again.close()
        }
    }

    /// Both have numbered a write in the same way when the hub applies that of the copy.
    @Test("Of two copies of a device one halts")
    func twoCopiesOfDevice() async throws {
        try await withDevice { device in
            let hub = device.hub
            let url = try await closedAndCopied(device)
            let again = try HubDevice(at: device.url, hub)
            let copy = try HubDevice(at: url, hub)
            hub.batches = 0
            try await again.engine.saveDocument(Product("p2"))
            try await eventually { try await again.states().last == "sending" }
            try await copy.engine.saveDocument(Product("p3"))
            try await eventually { try await copy.states().last == "sending" }
            hub.batches = .max
            try await eventually {
                again.engine.status.connection.isHalted || copy.engine.status.connection.isHalted
            }
            let isAgain = again.engine.status.connection.isHalted
            let (halted, other) = isAgain ? (again, copy) : (copy, again)
            try await eventually { try await other.unconfirmed() == 0 }
            #expect(try await halted.unconfirmed() == 1)
            #expect(try await halted.stored().map(\.id) == ["p1", isAgain ? "p2" : "p3"])
            #expect(try await hub.ids() == ["p1", isAgain ? "p3" : "p2"])
            try await halted.engine.startOver()
            try await eventually { halted.engine.parked.count == 1 }
            try await halted.engine.retry(halted.engine.parked[0])
            try await eventually { try await hub.ids() == ["p1", "p2", "p3"] }
            try await copy.close()
            try await again.close()
        }
    }

    // MARK: Accounts

    /// Somebody else signs in while the document is fetched that is to be changed.
    @Test("A change goes to no other account")
    func accountChangesDuringUpdate() async throws {
        let account = Account("anna")
        try await withDevice(account: account) { device in
            try await device.hub.save(Product("p1", name: "the hub's"))
            device.remote.willAnswer = { account.user = "berta" }
            await #expect(throws: (any Error).self) {
                try await device.engine.updateDocument(id: "p1", data: ["name": "anna's"])
            }
            device.remote.willAnswer = {}
            await device.engine.startListening()
            #expect(device.engine.currentCollection.map(\.name) == ["the hub's"])
            #expect(device.engine.pendingCount == 0)
            #expect(try await device.hub.fields(of: "p1")["name"] == #""the hub's""#)
        }
    }

    /// As where an app is started, and turns out to be signed out.
    @Test("Another process's documents are cleared while signed out")
    func signedOutAtStart() async throws {
        let account = Account("anna")
        try await withDevice(account: account) { device in
            try await device.hub.save(Product("p1"))
            await device.engine.startListening()
            try await device.close()
            let again = try HubDevice(at: device.url, device.hub, account: account)
            #expect(again.engine.currentCollection.map(\.id) == ["p1"])
            account.user = nil
            again.engine.stopListening()
            try await eventually { try await again.stored().isEmpty }
            account.user = "anna"
            #expect(again.engine.currentCollection.isEmpty)
            try await again.close()
        }
    }
}

extension SyncStatus.Connection {
    fileprivate var isHalted: Bool { if case .halted = self { true } else { false } }
}
