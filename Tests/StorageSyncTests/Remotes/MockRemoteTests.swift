import Foundation
import StorageCore
import StorageSync
import Testing

/// The mocks do what remotes do.
@MainActor @Suite(.timeLimit(.minutes(10))) struct MockRemoteTests {
    struct Gadget: DataSyncModelProtocol, Equatable {
        var id: String
        var name = ""
        var price = 0.0
        var note: String?
        var made: Date?
    }

    /// A document that distinguishes null fields from missing ones.
    struct Loose: DataSyncModelProtocol {
        let id: String
        let fields: [String: JSONValue]

        init(fields: [String: JSONValue]) { (id, self.fields) = ("a", fields) }
        init(from decoder: any Decoder) throws { self.init(fields: try [String: JSONValue](from: decoder)) }
        func encode(to encoder: any Encoder) throws { try fields.encode(to: encoder) }
    }

    private func collection(_ gadgets: Gadget...) -> MockRemoteCollectionService<Gadget> {
        MockRemoteCollectionService(collection: gadgets, delay: .zero)
    }

    /// What a stream says until its end, and why it ends.
    private func all<Element: Sendable>(
        _ stream: AsyncThrowingStream<Element, any Error>
    ) async -> (elements: [Element], error: (any Error)?) {
        var elements: [Element] = []
        do {
            for try await element in stream { elements.append(element) }
            return (elements, nil)
        } catch {
            return (elements, error)
        }
    }

    // MARK: Reads

    @Test("Reads find what is there")
    func reads() async throws {
        let remote = collection(Gadget(id: "b", price: 2), Gadget(id: "a", price: 1), Gadget(id: "c", price: 3))
        #expect(try await remote.getCollection().map(\.id) == ["b", "a", "c"])
        #expect(try await remote.getDocument(id: "a").price == 1)
        await #expect(throws: RemoteError.notFound) { try await remote.getDocument(id: "z") }
        let query = QueryBuilder().where("price", isGreaterThan: 1).order(by: "price", descending: true)
        #expect(try await remote.getDocuments(query: query).map(\.id) == ["c", "b"])
        await #expect(throws: StorageError.self) {
            try await remote.getDocuments(query: QueryBuilder().limit(toLast: 1))
        }
        let one = MockRemoteDocumentService(document: Gadget(id: "a"), delay: .zero)
        #expect(try await one.getDocument(id: "a") == Gadget(id: "a"))
        let none = MockRemoteDocumentService<Gadget>(delay: .zero)
        await #expect(throws: RemoteError.notFound) { try await none.getDocument(id: "a") }
    }

    @Test("Mocks can be created on any actor")
    nonisolated func mocksAreMadeAnywhere() async {
        let (remote, other) = (MockRemoteCollectionService<Gadget>(), MockRemoteDocumentService<Gadget>())
        #expect(await remote.collection.isEmpty)
        #expect(await remote.collectionPath == "")
        #expect(await other.documents.isEmpty)
    }

    // MARK: Writes

    @Test("Saves keep the order in which documents were created")
    func savesKeepOrder() async throws {
        let remote = collection(Gadget(id: "b"), Gadget(id: "a"))
        try await remote.saveDocument(Gadget(id: "c"))
        try await remote.saveDocument(Gadget(id: "b", name: "new"))
        #expect(remote.collection == [Gadget(id: "b", name: "new"), Gadget(id: "a"), Gadget(id: "c")])
        try await remote.deleteDocument(id: "a")
        try await remote.deleteDocument(id: "never there")
        #expect(remote.collection.map(\.id) == ["b", "c"])
    }

    @Test("Updates are merged by fields")
    func updatesMergeFields() async throws {
        let remote = collection(Gadget(id: "a", name: "old", price: 1, note: "note"))
        try await remote.updateDocument(id: "a", data: ["name": "new", "price": 2])
        #expect(remote.collection == [Gadget(id: "a", name: "new", price: 2, note: "note")])
        try await remote.updateDocument(id: "a", data: ["note": String?.none])
        #expect(remote.collection == [Gadget(id: "a", name: "new", price: 2, note: nil)])
    }

    /// Engines send JSON texts of theirs, in which a date is a text; apps that call a remote themselves give it a `Date`.
    @Test("Dates are accepted as texts and as dates")
    func datesAsTextOrDate() async throws {
        let date = Date(timeIntervalSince1970: 1_700_000_000.25)
        let remote = collection(Gadget(id: "a"), Gadget(id: "b"))
        try await remote.updateDocument(id: "a", data: ["made": date])
        try await remote.updateDocument(id: "b", data: ["made": "2023-11-14T22:13:20.25Z"])
        #expect(remote.collection.map(\.made) == [date, date])
        let query = QueryBuilder().where("made", isGreaterThan: date.addingTimeInterval(-0.25))
        #expect(try await remote.getDocuments(query: query).count == 2)
    }

    @Test("Null removes a field")
    func nullRemovesField() async throws {
        let loose = Loose(fields: ["kept": .null, "x": .integer(1), "y": .object(["z": .integer(1)])])
        let remote = MockRemoteDocumentService(document: loose, delay: .zero)
        try await remote.updateDocument(id: "a", data: ["x": Int?.none, "never": Int?.none, "y": ["w": 2]])
        // Top-level keys only: the object under "y" isn't merged with the one before.
        #expect(remote.documents.map(\.fields) == [["kept": .null, "y": .object(["w": .integer(2)])]])
    }

    @Test("Updates that leave no valid document are rejected", arguments: ["text", "removal", "id", "infinity"])
    func invalidUpdates(kind: String) async throws {
        let data: [String: any DMCodableSendable] =
            switch kind {
            case "text": ["price": "much"]
            case "removal": ["name": String?.none]
            case "id": ["id": "b"]
            default: ["price": Double.infinity]
            }
        let remote = collection(Gadget(id: "a", price: 1))
        let error = await #expect(throws: RemoteError.self) { try await remote.updateDocument(id: "a", data: data) }
        guard case .rejected = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(remote.collection == [Gadget(id: "a", price: 1)])
        #expect(remote.writes == [.update(id: "a", fields: data.keys.sorted())])
    }

    @Test("Updates need a document")
    func updateOfMissingDocument() async {
        let remote = collection()
        await #expect(throws: RemoteError.notFound) { try await remote.updateDocument(id: "a", data: ["name": "x"]) }
    }

    @Test("Writes are recorded")
    func writesAreRecorded() async throws {
        let remote = MockRemoteDocumentService<Gadget>(delay: .zero)
        try await remote.saveDocument(Gadget(id: "a"))
        try await remote.updateDocument(id: "a", data: ["price": 1, "name": "x"])
        remote.failure = RemoteError.unavailable()
        await #expect(throws: RemoteError.unavailable()) { try await remote.deleteDocument(id: "a") }
        remote.failure = nil
        try await remote.deleteDocument(id: "a")
        remote.change(Gadget(id: "other device"))
        #expect(
            remote.writes == [.save(Gadget(id: "a")), .update(id: "a", fields: ["name", "price"]), .delete(id: "a")])
        #expect(remote.documents == [Gadget(id: "other device")])
    }

    // MARK: Streams

    @Test("A document's streams start with it and see each change")
    func documentStreams() async throws {
        let remote = MockRemoteDocumentService<Gadget>(delay: .zero)
        let first = remote.streamDocument(id: "a")
        try await remote.saveDocument(Gadget(id: "a", price: 1))
        let second = remote.streamDocument(id: "a")
        remote.change(Gadget(id: "a", price: 2))
        remote.change(Gadget(id: "another"))
        try await remote.updateDocument(id: "a", data: ["price": 3])
        remote.remove(id: "a")
        remote.remove(id: "a")
        remote.change(Gadget(id: "a", price: 4))
        remote.failure = RemoteError.unavailable()
        #expect(await all(first).elements.map { $0?.price } == [nil, 1, 2, 3, nil, 4])
        #expect(await all(second).elements.map { $0?.price } == [1, 2, 3, nil, 4])
    }

    @Test("A collection's streams see changes from the call on")
    func collectionStreams() async throws {
        let remote = collection(Gadget(id: "a"))
        let early = remote.streamCollectionUpdates()
        try await remote.saveDocument(Gadget(id: "b"))
        let late = remote.streamCollectionUpdates()
        try await remote.updateDocument(id: "a", data: ["price": 1])
        try await remote.deleteDocument(id: "b")
        try await remote.deleteDocument(id: "b")
        remote.change(Gadget(id: "c"))
        remote.remove(id: "a")
        remote.failure = RemoteError.unavailable()
        #expect(await all(early.updates).elements == [Gadget(id: "b"), Gadget(id: "a", price: 1), Gadget(id: "c")])
        #expect(await all(late.updates).elements == [Gadget(id: "a", price: 1), Gadget(id: "c")])
        #expect(await all(early.deletions).elements == ["b", "a"])
        #expect(await all(late.deletions).elements == ["b", "a"])
    }

    @Test("Abandoned streams are forgotten")
    func abandonedStreams() async throws {
        let remote = collection(Gadget(id: "a"))
        let readers = [
            Task { for try await _ in remote.streamDocument(id: "a") {} },
            Task { for try await _ in remote.streamCollectionUpdates().updates {} },
            Task { for try await _ in remote.streamCollectionUpdates().deletions {} },
        ]
        while remote.listenerCount < 3 { await Task.yield() }
        for reader in readers { reader.cancel() }
        while remote.listenerCount > 0 { await Task.yield() }
        remote.change(Gadget(id: "b"))
    }

    // MARK: Failures

    @Test("A failure fails calls and streams")
    func failures() async throws {
        struct Broken: Error {}
        let remote = collection(Gadget(id: "a"))
        let open = remote.streamDocument(id: "a")
        remote.failure = Broken()
        let seen = await all(open)
        #expect(seen.elements == [Gadget(id: "a")])
        #expect(seen.error is Broken)
        #expect(remote.listenerCount == 0)
        await #expect(throws: Broken.self) { try await remote.getCollection() }
        await #expect(throws: Broken.self) { try await remote.getDocuments(query: QueryBuilder()) }
        await #expect(throws: Broken.self) { try await remote.getDocument(id: "a") }
        await #expect(throws: Broken.self) { try await remote.saveDocument(Gadget(id: "b")) }
        await #expect(throws: Broken.self) { try await remote.updateDocument(id: "a", data: [:]) }
        await #expect(throws: Broken.self) { try await remote.deleteDocument(id: "a") }
        let refused = await all(remote.streamDocument(id: "a"))
        #expect(refused.elements.isEmpty)
        #expect(refused.error is Broken)
        let streams = remote.streamCollectionUpdates()
        #expect(await all(streams.updates).error is Broken)
        #expect(await all(streams.deletions).error is Broken)
        remote.failure = nil
        #expect(try await remote.getCollection() == [Gadget(id: "a")])
        #expect(remote.writes.isEmpty)
    }

    @Test("Without a path nothing is answered")
    func withoutPath() async throws {
        @MainActor final class Account { var path: String? }
        let account = Account()
        let remote = MockRemoteCollectionService<Gadget>(collectionPath: { account.path }, delay: .zero)
        #expect(remote.collectionPath == nil)
        await #expect(throws: RemoteError.unauthorized) { try await remote.saveDocument(Gadget(id: "a")) }
        #expect(await all(remote.streamDocument(id: "a")).error as? RemoteError == .unauthorized)
        account.path = "users/1"
        #expect(remote.collectionPath == "users/1")
        try await remote.saveDocument(Gadget(id: "a"))
        #expect(remote.collection.count == 1)
    }

    @Test("A call that is cancelled while it waits has done nothing")
    func cancelledCall() async throws {
        let remote = MockRemoteCollectionService<Gadget>(delay: .seconds(3600))
        let write = Task { try await remote.saveDocument(Gadget(id: "a")) }
        write.cancel()
        await #expect(throws: CancellationError.self) { try await write.value }
        #expect(remote.collection.isEmpty)
        #expect(remote.writes.isEmpty)
    }

    @Test("Calls wait for the delay")
    func callsAreDelayed() async throws {
        let remote = MockRemoteCollectionService<Gadget>(delay: .milliseconds(30))
        let time = try await ContinuousClock().measure { _ = try await remote.getCollection() }
        #expect(time >= .milliseconds(30))
    }
}
