import Foundation
import StorageSync
import TestSupport
import Testing

/// What users of an engine of a collection are promised.
@MainActor @Suite struct CollectionSyncEngineTests {
    @Test("A write is stored at once and reaches the remote")
    func writeIsStoredAndSent() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        let receipt = try await engine.saveDocument(Product("a", name: "Lamp", price: 3))
        #expect(engine.getDocument(id: "a")?.name == "Lamp")
        #expect(try await shop.stored().map(\.id) == ["a"])
        try await receipt.confirmed()
        #expect(shop.mock.writes == [.save(Product("a", name: "Lamp", price: 3))])
        try await engine.updateDocument(id: "a", data: ["price": 29.99]).confirmed()
        #expect(shop.mock.writes.last == .update(id: "a", fields: ["price"]))
        #expect(shop.remoteProducts == [Product("a", name: "Lamp", price: 29.99)])
        try await engine.deleteDocument(id: "a")?.confirmed()
        #expect(shop.mock.collection.isEmpty)
        #expect(engine.currentCollection.isEmpty)
        try await engine.settled()
    }

    @Test("Listening fetches the collection and follows it")
    func listening() async throws {
        let shop = try SyncedShop([Product("b"), Product("a")])
        let engine = shop.engine()
        #expect(engine.currentCollection.isEmpty)
        await engine.startListening()
        #expect(engine.getCollection().map(\.id) == ["a", "b"])
        shop.mock.change(Product("c", price: 5))
        try await eventually { engine.getDocuments(where: { $0.price == 5 }).count == 1 }
        shop.mock.remove(id: "a")
        try await eventually { engine.currentCollection.map(\.id) == ["b", "c"] }
        #expect(shop.mock.writes.isEmpty)
        #expect(engine.status.connection == .connected)
    }

    @Test("A row that is written by other means is sent too")
    func writeByOtherMeansIsSent() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        await engine.startListening()
        try await shop.storage.write(actor: "anna") { tx in
            try tx.save(Product("a", name: "Lamp"))
            try tx.execute("UPDATE products SET price = 7 WHERE id = 'a'")
        }
        try await eventually { shop.remoteProducts == [Product("a", name: "Lamp", price: 7)] }
        try await shop.storage.delete(Product.self, id: "a")
        try await eventually { shop.mock.collection.isEmpty }
        try await engine.settled()
    }

    @Test("Rows that existed before the engine are sent")
    func existingRowsAreSent() async throws {
        let shop = try SyncedShop()
        try await shop.storage.save([Product("a", name: "old"), Product("b")])
        try await shop.storage.save(Product("a", name: "new"))
        let engine = shop.engine()
        await engine.startListening()
        try await eventually { shop.remoteProducts == [Product("a", name: "new"), Product("b")] }
        #expect(shop.mock.writes.count == 2)
        #expect(try await shop.stored().count == 2)
    }

    @Test("Pending writes survive the process and are sent in order")
    func pendingWritesSurviveRestart() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("shop.sqlite")
            let mock = MockRemoteCollectionService<Product>(collection: [Product("x")], delay: .zero)
            do {
                let shop = try SyncedShop(at: url, mock: mock)
                let engine = shop.engine()
                await engine.startListening()
                for id in ["a", "x"] { shop.remote.errors[id] = RemoteError.unavailable(retryAfter: .seconds(600)) }
                try await engine.saveDocument(Product("a", name: "one"))
                try await eventually { if case .waiting = engine.status.connection { true } else { false } }
                try await engine.updateDocument(id: "a", data: ["name": "two"])
                try await engine.updateDocument(id: "a", data: ["note": "three"])
                try await engine.deleteDocument(id: "x")
                try await eventually { engine.pendingCount == 4 }
                try await shop.storage.close()
            }
            let shop = try SyncedShop(at: url, mock: mock)
            let engine = shop.engine()
            // At once, without a listener.
            #expect(engine.currentCollection == [Product("a", name: "two", note: "three")])
            await engine.startListening()
            try await eventually { mock.collection == [Product("a", name: "two", note: "three")] }
            #expect(
                mock.writes == [
                    .save(Product("a", name: "one")), .update(id: "a", fields: ["name", "note"]), .delete(id: "x"),
                ])
            try await engine.settled()
            #expect(try await shop.stored() == mock.collection)
            try await shop.storage.close()
        }
    }

    @Test("Fields that changed on both sides are merged")
    func mergingByFields() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp", price: 1)])
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.errors["a"] = RemoteError.unavailable()
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        shop.mock.change(Product("a", name: "Light", price: 9, note: "from elsewhere"))
        try await eventually {
            engine.getDocument(id: "a") == Product("a", name: "Light", price: 2, note: "from elsewhere")
        }
        let query = LogQuery(tables: ["products"])
        var actors: [String: [String: String]] = [:]
        for try await event in shop.storage.log.events(query) {
            actors[event.commit.metadata.actor ?? "", default: [:]].merge(event.commit.metadata.attributes) { $1 }
        }
        #expect(actors["sync products"]?["conflicts"] == "a")
        shop.remote.errors = [:]
        try await engine.retryNow()
        try await engine.settled()
        #expect(shop.remoteProducts == [Product("a", name: "Light", price: 2, note: "from elsewhere")])
    }

    @Test("A deletion wins over an unsent change")
    func deletionWins() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.errors["a"] = RemoteError.unavailable()
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        shop.mock.remove(id: "a")
        try await eventually { engine.currentCollection.isEmpty }
        shop.remote.errors = [:]
        try await engine.retryNow()
        try await eventually { engine.parked.count == 1 }
        #expect(engine.parked.first?.documentId == "a")
        try await engine.discard(try #require(engine.parked.first))
        try await engine.settled()
        #expect(try await shop.stored().isEmpty)
    }

    @Test("A refused write is parked and blocks its document only")
    func refusedWriteIsParked() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp"), Product("b")])
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.errors["a"] = RemoteError.rejected("too cheap")
        let refused = try await engine.updateDocument(id: "a", data: ["price": 0.0])
        await #expect(throws: SyncWriteError.rejected("too cheap")) { try await refused.confirmed() }
        try await engine.updateDocument(id: "a", data: ["name": "Light"])
        try await engine.updateDocument(id: "b", data: ["price": 5.0]).confirmed()
        #expect(engine.parked.map(\.reason) == ["too cheap"])
        #expect(engine.pendingCount == 2)
        #expect(engine.getDocument(id: "a") == Product("a", name: "Light", price: 0))
        shop.remote.errors = [:]
        try await engine.discard(try #require(engine.parked.first))
        try await engine.settled()
        await #expect(throws: SyncWriteError.discarded) { try await refused.confirmed() }
        // The price is the remote's again, the later change is there.
        #expect(engine.getDocument(id: "a") == Product("a", name: "Light"))
        #expect(shop.remoteProducts == [Product("a", name: "Light"), Product("b", price: 5)])
    }

    @Test("A deletion arrives though its document is written during the fetch")
    func deletionDuringFetch() async throws {
        let shop = try SyncedShop([Product("a"), Product("b")])
        let engine = shop.engine()
        await engine.startListening()
        engine.stopListening(clearCaches: false)
        try await eventually { shop.mock.listenerCount == 0 }
        shop.mock.remove(id: "a")
        // The stream, which is opened later, says nothing of it.
        shop.remote.willFetch = {
            try await engine.updateDocument(id: "a", data: ["price": 2])
            try await eventually { !engine.parked.isEmpty }
        }
        await engine.startListening()
        try await engine.discard(try #require(engine.parked.first))
        try await eventually { engine.currentCollection == [Product("b")] }
        #expect(try await shop.stored() == [Product("b")])
    }

    @Test("A parked write can be sent again")
    func retryingParkedWrite() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        shop.remote.errors["a"] = RemoteError.rejected("closed")
        try await engine.saveDocument(Product("a"))
        try await eventually { engine.parked.count == 1 }
        shop.remote.errors = [:]
        try await engine.retry(try #require(engine.parked.first))
        try await engine.settled()
        #expect(shop.mock.collection == [Product("a")])
    }

    @Test("Clearing is never sent and keeps unsent writes")
    func clearingKeepsUnsentWrites() async throws {
        let shop = try SyncedShop([Product("a"), Product("b")])
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.errors["a"] = RemoteError.unavailable()
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        engine.stopListening()
        #expect(engine.currentCollection.isEmpty)
        try await eventually { try await shop.stored().isEmpty }
        #expect(engine.pendingCount == 1)
        #expect(shop.mock.collection.count == 2)
        var actors: Set<String?> = []
        for try await event in shop.storage.log.events(LogQuery()) where event.operation == .delete {
            actors.insert(event.commit.metadata.actor)
        }
        #expect(actors == ["sync products"])
        shop.remote.errors = [:]
        await engine.startListening()
        try await engine.settled()
        #expect(engine.getDocument(id: "a") == Product("a", price: 2))
        #expect(shop.remoteProducts == [Product("a", price: 2), Product("b")])
        #expect(!shop.mock.writes.contains(.delete(id: "a")))
        #expect(!shop.mock.writes.contains(.delete(id: "b")))
    }

    /// Also not for as long as a change lasts that was being read when it was cleared.
    @Test("What was cleared isn't shown again")
    func clearedStaysCleared() async throws {
        let shop = try SyncedShop((0..<20).map { Product("p\($0)") })
        let engine = shop.engine()
        for round in 0..<30 {
            await engine.startListening()
            for number in 0..<20 { shop.mock.change(Product("p\(number)", name: "\(round)")) }
            for _ in 0..<round { await Task.yield() }
            engine.stopListening()
            while true {
                try #require(engine.currentCollection.isEmpty, "round \(round)")
                if try await shop.stored().isEmpty { break }
            }
        }
        await engine.startListening()
        #expect(engine.currentCollection.map(\.name) == Array(repeating: "29", count: 20))
    }

    @Test("A write that is confirmed after clearing doesn't bring its document back")
    func confirmationAfterClearing() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.errors["a"] = RemoteError.unavailable()
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        engine.stopListening()
        try await eventually { try await shop.stored().isEmpty }
        shop.remote.errors = [:]
        try await engine.retryNow()
        try await engine.settled()
        #expect(shop.remoteProducts == [Product("a", price: 2)])
        #expect(try await shop.stored().isEmpty)
        #expect(engine.currentCollection.isEmpty)
        await engine.startListening()
        #expect(engine.currentCollection == [Product("a", price: 2)])
    }

    @Test("Stopping without clearing keeps the documents")
    func stoppingWithoutClearing() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        await engine.startListening()
        engine.stopListening(clearCaches: false)
        try await eventually { shop.mock.listenerCount == 0 }
        shop.mock.change(Product("b"))
        #expect(engine.currentCollection == [Product("a")])
        // Writes are sent still.
        try await engine.updateDocument(id: "a", data: ["price": 3.0]).confirmed()
        #expect(engine.currentCollection == [Product("a", price: 3)])
        await engine.startListening()
        #expect(engine.currentCollection == [Product("a", price: 3), Product("b")])
    }

    @Test("Nothing of one account is shown or sent to another")
    func accountsAreSeparate() async throws {
        let account = Account("anna")
        let shop = try SyncedShop(
            [Product("a")],
            mock: MockRemoteCollectionService(
                collection: [Product("a")], collectionPath: { account.user.map { "users/\($0)" } }, delay: .zero))
        let engine = shop.engine()
        await engine.startListening()
        shop.remote.errors["a"] = RemoteError.unavailable()
        try await engine.updateDocument(id: "a", data: ["note": "Anna's secret"])
        let sent = shop.remote.attempts.count

        account.user = nil
        #expect(engine.currentCollection.isEmpty)
        await #expect(throws: StorageError.self) { try await engine.saveDocument(Product("c")) }

        account.user = "berta"
        #expect(engine.currentCollection.isEmpty)
        shop.mock.remove(id: "a")
        shop.remote.errors = [:]
        await engine.startListening()
        #expect(engine.currentCollection.isEmpty)
        #expect(engine.pendingCount == 0)
        try await engine.saveDocument(Product("b")).confirmed()
        #expect(try await shop.stored() == [Product("b")])
        #expect(shop.remote.attempts.dropFirst(sent).allSatisfy { $0 == "b" })

        account.user = "anna"
        shop.mock.change(Product("a"))
        shop.mock.remove(id: "b")
        await engine.startListening()
        try await engine.settled()
        #expect(shop.remoteProducts == [Product("a", note: "Anna's secret")])
        #expect(engine.currentCollection == shop.remoteProducts)
    }

    @Test("Documents that aren't entities are stored as JSON")
    func documentsAsJSON() async throws {
        let container = try PersistenceContainer.inMemory()
        let mock = MockRemoteCollectionService<Profile>(delay: .zero)
        let (people, others) = withDatabaseContainer(container) {
            (
                CollectionSyncEngine<Profile>(remote: mock, managerKey: "people"),
                CollectionSyncEngine<Profile>(
                    remote: MockRemoteCollectionService<Profile>(delay: .zero), managerKey: "others")
            )
        }
        var anna = Profile(
            id: "1", name: "Anna", address: .init(city: "Bonn"), tags: ["a"],
            born: Date(timeIntervalSince1970: 0.123_456))
        try await people.saveDocument(anna).confirmed()
        try await others.saveDocument(Profile(id: "1", name: "Otto")).confirmed()
        try await people.updateDocument(id: "1", data: ["tags": ["b", "c"], "address": String?.none]).confirmed()
        anna.tags = ["b", "c"]
        anna.address = nil
        #expect(people.currentCollection == [anna])
        #expect(mock.collection == [anna])
        #expect(others.currentCollection.map(\.name) == ["Otto"])
        #expect(
            try await container.storage.read {
                try String.fetchAll($0, sql: "SELECT manager FROM sync_documents ORDER BY 1")
            }
                == ["others", "people"])
    }

    @Test("Without persistence nothing is kept")
    func withoutPersistence() async throws {
        let mock = MockRemoteCollectionService(collection: [Product("a")], delay: .zero)
        do {
            let engine = CollectionSyncEngine<Product>(
                remote: mock, managerKey: "products", enableLocalPersistence: false)
            await engine.startListening()
            #expect(engine.currentCollection == [Product("a")])
            try await engine.saveDocument(Product("b")).confirmed()
        }
        let engine = CollectionSyncEngine<Product>(remote: mock, managerKey: "products", enableLocalPersistence: false)
        #expect(engine.currentCollection.isEmpty)
        #expect(mock.collection.count == 2)
    }

    /// What the process doesn't send is lost with it, as the guide says.
    @Test("Without persistence pending writes are in no other engine")
    func pendingWithoutPersistence() async throws {
        let mock = MockRemoteCollectionService(collection: [Product("a")], delay: .zero)
        mock.failure = RemoteError.unavailable()
        let engine = {
            CollectionSyncEngine<Product>(remote: mock, managerKey: "products", enableLocalPersistence: false)
        }
        let (first, second) = (engine(), engine())
        try await first.saveDocument(Product("b"))
        #expect(first.pendingCount == 1)
        #expect(first.getDocument(id: "b") == Product("b"))
        #expect(second.pendingCount == 0)
        #expect(second.getDocument(id: "b") == nil)
    }

    @Test("An engine without a store says what to do")
    func engineWithoutStore() async throws {
        let engine = CollectionSyncEngine<Product>(
            remote: MockRemoteCollectionService<Product>(delay: .zero), managerKey: "products")
        let error = await #expect(throws: StorageError.self) { try await engine.saveDocument(Product("a")) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.remedy.contains("PersistenceContainer.configure") == true)
    }

    @Test("Unknown fields are refused")
    func unknownFields() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp")])
        let engine = shop.engine()
        await engine.startListening()
        for data: [String: any DMCodableSendable] in [["prise": 2], ["price": "cheap"], ["id": "b"]] {
            let error = await #expect(throws: StorageError.self) {
                try await engine.updateDocument(id: "a", data: data)
            }
            #expect(error?.code == .invalidValue)
        }
        let error = await #expect(throws: StorageError.self) {
            try await engine.updateDocument(id: "none", data: ["price": 2.0])
        }
        #expect(error?.code == .notFound)
        #expect(try await engine.deleteDocument(id: "none") == nil)
        #expect(engine.currentCollection == [Product("a", name: "Lamp")])
        #expect(shop.mock.writes.isEmpty)
    }

    @Test("A document that isn't in the store is changed as the remote has it")
    func changingUnknownDocument() async throws {
        let shop = try SyncedShop([Product("a", name: "Lamp"), Product("b")])
        let engine = shop.engine()
        try await engine.updateDocument(id: "a", data: ["price": 2.0]).confirmed()
        #expect(shop.mock.writes == [.update(id: "a", fields: ["price"])])
        try await engine.deleteDocument(id: "b")?.confirmed()
        #expect(shop.remoteProducts == [Product("a", name: "Lamp", price: 2)])
        #expect(engine.currentCollection == shop.remoteProducts)
    }

    @Test("Reads come from the store or the remote")
    func readBehaviours() async throws {
        let shop = try SyncedShop([Product("a", price: 5), Product("b", price: 20)])
        let engine = shop.engine()
        #expect(try await engine.getCollectionAsync().map(\.id) == ["a", "b"])
        #expect(try await engine.getDocumentAsync(id: "a").price == 5)
        #expect(try await engine.getDocumentsAsync(where: { $0.price < 10 }).map(\.id) == ["a"])
        #expect(
            try await engine.getDocumentsAsync(buildQuery: { $0.where("price", isGreaterThan: 10.0) }).map(\.id) == [
                "b"
            ])
        #expect(engine.currentCollection.isEmpty)
        await engine.startListening()
        shop.mock.failure = RemoteError.unavailable()
        #expect(try await engine.getDocumentAsync(id: "a").price == 5)
        #expect(try await engine.getCollectionAsync().count == 2)
        await #expect(throws: RemoteError.unavailable()) {
            try await engine.getDocumentAsync(id: "a", behavior: .alwaysFetch)
        }
        shop.mock.failure = nil
        var seen: [Double?] = []
        for try await document in engine.streamDocument(id: "a") {
            seen.append(document?.price)
            if seen.count == 1 { shop.mock.change(Product("a", price: 6)) } else { break }
        }
        #expect(seen == [5, 6])
    }

    @Test("A write whose answer was lost is sent again before later ones")
    func lostAnswerKeepsOrder() async throws {
        let shop = try SyncedShop()
        let engine = shop.engine()
        shop.remote.lostAnswers = 1
        try await engine.saveDocument(Product("a", name: "one"))
        try await eventually { shop.remote.attempts.count == 1 }
        try await engine.updateDocument(id: "a", data: ["name": "two"])
        try await engine.settled()
        #expect(shop.remoteProducts == [Product("a", name: "two")])
        #expect(shop.mock.writes.count == 3)
        #expect(engine.currentCollection == shop.remoteProducts)
    }

    @Test("Refused credentials stop everything until there are new ones")
    func refusedCredentials() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        await engine.startListening()
        shop.mock.failure = RemoteError.unauthorized
        try await engine.updateDocument(id: "a", data: ["price": 2.0])
        // A pull may be refused before the write is known.
        try await eventually { engine.status.connection == .unauthorized && engine.pendingCount == 1 }
        shop.mock.failure = nil
        try await engine.credentialsChanged()
        try await engine.settled()
        #expect(shop.remoteProducts == [Product("a", price: 2)])
    }

    @Test("Listening that starts again after refused credentials returns with the documents")
    func listeningAfterRefusedCredentials() async throws {
        let shop = try SyncedShop([Product("a")])
        let engine = shop.engine()
        shop.mock.failure = RemoteError.unauthorized
        await engine.startListening()
        try await eventually { engine.status.connection == .unauthorized }
        engine.stopListening(clearCaches: false)
        shop.mock.failure = nil
        await engine.startListening()
        #expect(engine.currentCollection == [Product("a")])
        #expect(engine.status.connection == .connected)
    }

    @Test("Of two engines with one key the later one sends")
    func engineReplacesEarlierOne() async throws {
        let shop = try SyncedShop([Product("a")])
        let (first, second) = (shop.engine(), shop.engine())
        await first.startListening()
        await second.startListening()
        try await second.saveDocument(Product("b")).confirmed()
        #expect(shop.mock.writes == [.save(Product("b"))])
        #expect(first.status.connection == .idle)
        // And it comes back when it is used.
        try await first.saveDocument(Product("c")).confirmed()
        #expect(shop.mock.writes == [.save(Product("b")), .save(Product("c"))])
    }

    @Test("A table belongs to one engine")
    func tableOfOneEngine() async throws {
        let shop = try SyncedShop()
        try await shop.engine().saveDocument(Product("a"))
        let other = withDatabaseContainer(shop.container) {
            CollectionSyncEngine<Product>(remote: shop.remote, managerKey: "others")
        }
        let error = await #expect(throws: StorageError.self) { try await other.saveDocument(Product("b")) }
        #expect(error?.code == .invalidArgument)
    }
}
