import Foundation
import StorageEntities
import StorageSync
import TestSupport
import Testing

@StorageEntity
struct Reading: DataSyncModelProtocol, Equatable {
    var id: String
    var low: Double
    var high: Double?
}

extension Reading {
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        low = try container.decode(Double.self, forKey: .low)
        high = try? container.decode(Double.self, forKey: .high)
    }
}

/// Rows that JSON can't express, such as those with an infinity.
@MainActor @Suite struct UnsendableWritesTests {
    private let infinite = Product("a", price: .infinity)

    /// An engine whose write of a document is parked, because the row's price has become infinite.
    private func parking(_ shop: SyncedShop) async throws -> CollectionSyncEngine<Product> {
        let engine = shop.engine()
        await engine.startListening()
        try await shop.storage.write { tx in
            try tx.execute("UPDATE products SET name = 'Light', price = 9e999 WHERE id = 'a'")
        }
        try await eventually { engine.parked.map(\.documentId) == ["a"] }
        return engine
    }

    private func discardParked(_ engine: CollectionSyncEngine<Product>) async throws {
        try await engine.discard(try #require(engine.parked.first))
        try await engine.settled()
    }

    @Test("saveDocument refuses a document that JSON can't express")
    func savingIsRefused() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        let error = await #expect(throws: StorageError.self) { try await engine.saveDocument(infinite) }
        #expect(error?.code == .invalidValue)
        #expect(try await shop.stored().isEmpty)
        #expect(engine.pendingCount == 0)
    }

    @Test("An engine refuses an infinite field")
    func updateIsRefused() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        await engine.startListening()
        let error = await #expect(throws: StorageError.self) {
            try await engine.updateDocument(id: "a", data: ["price": Double.infinity])
        }
        #expect(error?.code == .invalidValue)
        #expect(try await shop.stored() == [Product("a")])
    }

    @Test("A row that JSON can't express is parked, and others are sent")
    func othersAreSent() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        await engine.startListening()
        try await shop.storage.save([infinite, Product("b")])
        try await eventually { engine.parked.map(\.documentId) == ["a"] && engine.pendingCount == 1 }
        #expect(engine.parked.first?.reason.contains("can't be written as JSON") == true)
        #expect(shop.remoteProducts == [Product("b")])
    }

    @Test("A text in a column of numbers is parked, and other documents are sent")
    func wrongTypeIsParked() async throws {
        let shop = try SyncedShop([Product("a"), Product("b")])
        let engine = shop.engine()
        await engine.startListening()
        try await shop.storage.write { tx in
            try tx.execute("UPDATE products SET price = 'abc' WHERE id = 'a'")
            try tx.execute("UPDATE products SET price = 5 WHERE id = 'b'")
        }
        try await eventually { engine.parked.map(\.documentId) == ["a"] && engine.pendingCount == 1 }
        #expect(engine.parked.first?.reason.contains(#"Column "price" holds "abc""#) == true)
        #expect(shop.remoteProducts == [Product("a"), Product("b", price: 5)])
        try await discardParked(engine)
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    @Test("While a row can't be read, the engine shows its last document, and the changes of others")
    func othersAreShown() async throws {
        let shop = try SyncedShop([Product("a"), Product("b")])
        let engine = shop.engine()
        await engine.startListening()
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 'abc' WHERE id = 'a'") }
        try await eventually { engine.parked.map(\.documentId) == ["a"] }
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 5 WHERE id = 'b'") }
        try await eventually { engine.currentCollection == [Product("a"), Product("b", price: 5)] }
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 2 WHERE id = 'a'") }
        try await eventually { engine.getDocument(id: "a")?.price == 2 }
    }

    @Test("Rows that existed before the engine don't keep it from starting")
    func existingRow() async throws {
        let shop = try SyncedShop()
        try await shop.storage.save([infinite, Product("b")])
        let engine = shop.engine()
        await engine.startListening()
        try await eventually { engine.parked.map(\.documentId) == ["a"] && engine.pendingCount == 1 }
        #expect(engine.status.connection == .connected)
        #expect(shop.remoteProducts == [Product("b")])
    }

    /// It could be sent at first, but the remote has never had that document.
    @Test("A row that existed before the engine is sent whole once it is corrected")
    func correctingExistingRow() async throws {
        let shop = try SyncedShop()
        try await shop.storage.save(Product("a", name: "Lamp"))
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 9e999 WHERE id = 'a'") }
        let engine = shop.engine()
        await engine.startListening()
        try await eventually { engine.parked.map(\.documentId) == ["a"] }
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        try await discardParked(engine)
        #expect(shop.mock.writes == [.save(Product("a", name: "Lamp", price: 2))])
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    @Test("The deletion of a row that existed before the engine is sent, although nothing of the row could be")
    func deletingExistingRow() async throws {
        let shop = try SyncedShop([Product("a")])
        try await shop.storage.save(Product("a", name: "Lamp"))
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 9e999 WHERE id = 'a'") }
        let engine = shop.engine()
        await engine.startListening()
        try await eventually { engine.parked.map(\.documentId) == ["a"] }
        try await shop.storage.write { tx in try tx.execute("DELETE FROM products WHERE id = 'a'") }
        try await discardParked(engine)
        #expect(shop.remoteProducts == [])
        #expect(try await shop.stored() == [])
    }

    @Test("Discarding the parked write restores the remote's document")
    func discarding() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        try await discardParked(try await parking(shop))
        #expect(try await shop.stored() == [Product("a", name: "Lamp")])
        #expect(shop.mock.writes.isEmpty)
    }

    @Test("Once the row is corrected and the parked write discarded, all changes of the row are sent")
    func correcting() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = try await parking(shop)
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 2 WHERE id = 'a'") }
        try await discardParked(engine)
        #expect(shop.mock.writes == [.update(id: "a", fields: ["name", "price"])])
        #expect(shop.remoteProducts == [Product("a", name: "Light", price: 2)])
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    @Test("After many changes of the row, the correction is sent with all of them")
    func correctingAfterManyChanges() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = try await parking(shop)
        for number in 1...300 {
            try await shop.storage.write { tx in
                try tx.execute("UPDATE products SET note = '\(number)' WHERE id = 'a'")
            }
        }
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 2 WHERE id = 'a'") }
        try await discardParked(engine)
        #expect(shop.mock.writes == [.update(id: "a", fields: ["name", "note", "price"])])
        #expect(shop.remoteProducts == [Product("a", name: "Light", price: 2, note: "300")])
    }

    /// What is made on another state of the remote isn't sent as one otherwise.
    @Test("Changes and the correction between which something was received are sent once the parked write is discarded")
    func correctingAfterReceiving() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp"), Product("b")])
        let engine = try await parking(shop)
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET note = 'heavy' WHERE id = 'a'") }
        try await eventually { engine.pendingCount == 2 }
        shop.mock.change(Product("b", note: "theirs"))
        try await eventually { engine.getDocument(id: "b")?.note == "theirs" }
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 2 WHERE id = 'a'") }
        try await eventually { engine.pendingCount == 3 }
        try await discardParked(engine)
        #expect(shop.mock.writes == [.update(id: "a", fields: ["name", "note", "price"])])
        #expect(shop.remoteProducts.first == Product("a", name: "Light", price: 2, note: "heavy"))
    }

    @Test("Changes and the correction that are too large for a batch are sent once the parked write is discarded")
    func correctingAfterLargeChanges() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = try await parking(shop)
        let notes = ["x", "y"].map { String(repeating: $0, count: 200_000) }
        for note in notes {
            try await shop.storage.write { tx in try tx.execute("UPDATE products SET note = '\(note)' WHERE id = 'a'") }
        }
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 2 WHERE id = 'a'") }
        try await eventually { engine.pendingCount == 4 }
        try await discardParked(engine)
        #expect(shop.remoteProducts == [Product("a", name: "Light", price: 2, note: notes[1])])
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    @Test("Once the row is corrected and the parked write retried, all changes of the row are sent")
    func retryingCorrected() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = try await parking(shop)
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        try await engine.retry(try #require(engine.parked.first))
        try await engine.settled()
        #expect(shop.mock.writes == [.update(id: "a", fields: ["name", "price"])])
        #expect(shop.remoteProducts == [Product("a", name: "Light", price: 2)])
    }

    @Test("Both of two changes that can't be sent are sent once the row is corrected and the parked write retried")
    func retryingTwoCorrected() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = shop.engine()
        await engine.startListening()
        try await shop.hold(engine)
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 9e999 WHERE id = 'a'") }
        try await shop.storage.save(Product("b"))
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET name = 'Light' WHERE id = 'a'") }
        try await shop.release(engine)
        try await eventually { engine.parked.map(\.documentId) == ["a"] && engine.pendingCount == 2 }
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        try await engine.retry(try #require(engine.parked.first))
        try await engine.settled()
        #expect(shop.remoteProducts == [Product("a", name: "Light", price: 2), Product("b"), Product("z")])
    }

    @Test("The row is corrected by changing its infinite field, and by nothing else")
    func correctingField() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = try await parking(shop)
        let error = await #expect(throws: StorageError.self) {
            try await engine.updateDocument(id: "a", data: ["note": "heavy"])
        }
        #expect(error?.code == .invalidValue)
        #expect(try await shop.stored() == [Product("a", name: "Light", price: .infinity)])
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        #expect(engine.currentCollection == [Product("a", name: "Light", price: 2)])
        try await discardParked(engine)
        #expect(shop.remoteProducts == [Product("a", name: "Light", price: 2)])
    }

    /// Such a type would decode whatever the infinity is written as.
    @Test("Changing another field doesn't replace an infinity, if its type decodes anything", arguments: [true, false])
    func tolerantType(isNegative: Bool) async throws {
        let container = try PersistenceContainer.inMemory { $0.autoSchema(ReadingRecord.self) }
        let infinite = Reading(id: "a", low: 1, high: isNegative ? -.infinity : .infinity)
        try await container.storage.save(infinite)
        let remote = MockRemoteCollectionService<Reading>(delay: .zero)
        let engine = withDatabaseContainer(container) {
            CollectionSyncEngine(remote: remote, managerKey: "readings")
        }
        let error = await #expect(throws: StorageError.self) {
            try await engine.updateDocument(id: "a", data: ["low": 2.0])
        }
        #expect(error?.code == .invalidValue)
        #expect(error?.message.contains(#""high""#) == true)
        #expect(try await container.storage.query(Reading.self).fetch() == [infinite])
        try await engine.updateDocument(id: "a", data: ["high": 2.0])
        #expect(try await container.storage.query(Reading.self).fetch() == [Reading(id: "a", low: 1, high: 2)])
    }

    @Test("A new document is corrected by saving it again")
    func correctingNewDocument() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        try await engine.saveDocument(Product("b")).confirmed()
        try await shop.storage.save(infinite)
        try await eventually { engine.parked.map(\.documentId) == ["a"] }
        try await engine.saveDocument(Product("a", name: "Lamp", price: 2))
        try await discardParked(engine)
        #expect(shop.remoteProducts == [Product("a", name: "Lamp", price: 2), Product("b")])
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    @Test("A retried write that still can't be sent is parked again")
    func retrying() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = try await parking(shop)
        let receipt = try await engine.saveDocument(Product("b"))
        try await engine.retry(try #require(engine.parked.first))
        try await receipt.confirmed()
        try await eventually { engine.parked.map(\.documentId) == ["a"] }
        #expect(shop.remoteProducts.first == Product("a"))
    }

    /// Both are sent as one.
    @Test("A row that is corrected before it is sent isn't parked")
    func correctedBeforeSending() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        try await shop.hold(engine)
        try await shop.storage.save(infinite)
        try await shop.storage.save(Product("a", price: 2))
        try await shop.release(engine)
        try await engine.settled()
        #expect(shop.remoteProducts == [Product("a", price: 2), Product("z")])
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    @Test("A row that is corrected before it is sent isn't parked, whatever is written in between")
    func correctedBehindOthers() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        try await shop.hold(engine)
        try await shop.storage.save(infinite)
        try await shop.storage.save(Product("b"))
        try await shop.storage.save(Product("a", price: 2))
        try await shop.release(engine)
        try await engine.settled()
        #expect(shop.mock.writes == [.save(Product("z")), .save(Product("b")), .save(Product("a", price: 2))])
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    @Test("A row that is deleted before it is sent isn't parked, whatever is written in between")
    func deletedBehindOthers() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        await engine.startListening()
        try await shop.hold(engine)
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 9e999 WHERE id = 'a'") }
        try await shop.storage.save(Product("b"))
        try await shop.storage.write { tx in try tx.execute("DELETE FROM products WHERE id = 'a'") }
        try await shop.release(engine)
        try await engine.settled()
        #expect(shop.remoteProducts == [Product("b"), Product("z")])
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    /// Both are sent as one, and the row could be sent at first.
    @Test("A row that existed before the engine and is corrected before it is sent is sent whole")
    func existingRowCorrectedBeforeSending() async throws {
        let shop = try SyncedShop()
        // So large that nothing is sent with it.
        let large = Product("z", name: String(repeating: "z", count: 300_000))
        try await shop.storage.save([large, Product("a", name: "Lamp")])
        shop.remote.errors["z"] = RemoteError.unavailable(retryAfter: .seconds(600))
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 9e999 WHERE id = 'a'") }
        let engine = shop.engine()
        try await engine.retryNow()
        try await eventually { if case .waiting = engine.status.connection { true } else { false } }
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 2 WHERE id = 'a'") }
        try await eventually { engine.pendingCount == 3 }
        try await shop.release(engine)
        try await engine.settled()
        #expect(shop.mock.writes == [.save(large), .save(Product("a", name: "Lamp", price: 2))])
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    /// Both are sent as one, and retrying makes the first of them a save.
    @Test("A correction whose document is gone creates it again once it is retried")
    func retryingCorrectionOfGoneDocument() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = shop.engine()
        await engine.startListening()
        try await shop.hold(engine)
        for price in ["9e999", "2"] {
            try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = \(price) WHERE id = 'a'") }
        }
        try await eventually { engine.pendingCount == 3 }
        shop.mock.remove(id: "a")
        try await shop.release(engine)
        try await eventually { engine.parked.map(\.documentId) == ["a"] }
        // The deletion is received.
        try await eventually { try await shop.stored() == [Product("z")] }
        try await engine.retry(try #require(engine.parked.first))
        try await engine.settled()
        #expect(shop.remoteProducts == [Product("a", name: "Lamp", price: 2), Product("z")])
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    @Test("Changes before the unsendable one are sent, although all would be sent as one")
    func changesBefore() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = shop.engine()
        await engine.startListening()
        try await shop.hold(engine)
        for change in ["name = 'Light'", "price = 9e999", "note = 'heavy'"] {
            try await shop.storage.write { tx in try tx.execute("UPDATE products SET \(change) WHERE id = 'a'") }
        }
        try await shop.release(engine)
        try await eventually { engine.parked.map(\.documentId) == ["a"] }
        try await eventually { shop.remoteProducts.first?.name == "Light" }
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 2 WHERE id = 'a'") }
        try await discardParked(engine)
        #expect(shop.remoteProducts.first == Product("a", name: "Light", price: 2, note: "heavy"))
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    @Test("The remote's change is received once the parked write is discarded")
    func receivingMeanwhile() async throws {
        let shop = try SyncedShop([Product("a"), Product("b")])
        let engine = try await parking(shop)
        shop.mock.change(Product("a", note: "theirs"))
        shop.mock.change(Product("b", note: "theirs"))
        try await eventually { engine.status.unreadable.map(\.documentId) == ["a"] }
        try await eventually { engine.getDocument(id: "b")?.note == "theirs" }
        #expect(engine.getDocument(id: "a")?.price == .infinity)
        try await discardParked(engine)
        try await eventually { engine.status.unreadable.isEmpty }
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    /// The row has changes that can't be sent, and so not what the remote has changed.
    @Test("The remote's change stays reported once an earlier write is accepted")
    func acceptedBefore() async throws {
        let shop = try SyncedShop([Product("a"), Product("y"), Product("z")])
        let engine = shop.engine()
        await engine.startListening()
        let (isHeld, hold) = AsyncStream<Void>.makeStream()
        shop.remote.willWrite = { id in if id == "z" { await Task { for await _ in isHeld {} }.value } }
        try await engine.updateDocument(id: "z", data: ["price": 2.0])
        try await eventually { shop.remote.attempts == ["z"] }
        for change in ["name = 'Light'", "price = 9e999"] {
            try await shop.storage.write { tx in try tx.execute("UPDATE products SET \(change) WHERE id = 'a'") }
        }
        try await eventually { engine.pendingCount == 3 }
        shop.mock.change(Product("a", note: "theirs"))
        try await eventually { engine.status.unreadable.map(\.documentId) == ["a"] }
        hold.finish()
        try await eventually { engine.parked.map(\.documentId) == ["a"] && engine.pendingCount == 1 }
        #expect(shop.remoteProducts.first == Product("a", name: "Light", note: "theirs"))
        // Others come after what the remote reports of it.
        shop.mock.change(Product("y", note: "theirs"))
        try await eventually { engine.getDocument(id: "y")?.note == "theirs" }
        #expect(engine.status.unreadable.map(\.documentId) == ["a"])
        try await discardParked(engine)
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    @Test("The document of a parked write that is removed and received again is the remote's")
    func clearing() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp"), Product("b")])
        let engine = try await parking(shop)
        engine.stopListening()
        try await eventually { try await shop.stored().isEmpty }
        await engine.startListening()
        #expect(engine.currentCollection == [Product("a", name: "Lamp"), Product("b")])
        #expect(engine.parked.map(\.documentId) == ["a"])
        shop.mock.change(Product("a", name: "Bulb"))
        shop.mock.change(Product("b", note: "theirs"))
        try await eventually { engine.getDocument(id: "b")?.note == "theirs" }
        try await discardParked(engine)
        try await eventually { engine.status.unreadable.isEmpty }
        #expect(try await shop.stored() == shop.remoteProducts)
        try await eventually { engine.currentCollection == shop.remoteProducts }
    }

    @Test("After another account was signed in, the document of the parked write is the remote's")
    func otherAccount() async throws {
        let account = Account("anna")
        let mock = MockRemoteCollectionService(
            collection: [Product("a", name: "Lamp"), Product("b")], collectionPath: { account.user }, delay: .zero)
        let shop = try SyncedShop(mock: mock)
        let engine = try await parking(shop)
        for user in ["berta", "anna"] {
            account.user = user
            await engine.startListening()
            #expect(engine.currentCollection == [Product("a", name: "Lamp"), Product("b")])
        }
        #expect(engine.parked.map(\.documentId) == ["a"])
        try await discardParked(engine)
        #expect(try await shop.stored() == shop.remoteProducts)
    }

    @Test("A part of the collection can be listened to")
    func listeningToQuery() async throws {
        let shop = try SyncedShop([Product("a"), Product("b", note: "listed")])
        let engine = try await parking(shop)
        try await engine.startListening { $0.where("note", isEqualTo: "listed") }
        shop.mock.change(Product("c", note: "listed"))
        try await eventually { engine.getDocument(id: "c") != nil }
    }

    @Test("If rows can't be read, the engine says why, and starts once they can")
    func unreadableRow() async throws {
        let shop = try SyncedShop()
        try await shop.storage.save(Product("a"))
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 'abc' WHERE id = 'a'") }
        let engine = shop.engine()
        await engine.startListening()
        #expect(engine.status.lastError?.contains("price") == true)
        let error = await #expect(throws: StorageError.self) { try await engine.saveDocument(Product("b")) }
        #expect(error?.code == .invalidValue)
        try await shop.storage.write { tx in try tx.execute("UPDATE products SET price = 2 WHERE id = 'a'") }
        await engine.startListening()
        #expect(engine.currentCollection == [Product("a", price: 2)])
    }
}
