import Foundation
import StorageSync
import TestSupport
import Testing

/// Long outboxes drain in order and in batches. `STORAGEKIT_TEST_SCALE` multiplies the writes: 100 of it are 100,000.
@MainActor @Suite struct OutboxSizeTests {
    private nonisolated static let count = min(100_000, max(1_000, Int(1_000 * testScale)))

    @Test("Writes of many documents drain in order across restarts")
    func manyDocumentsDrainInOrder() async throws {
        try await withTemporaryFolder { folder in
            let url = folder.appendingPathComponent("shop.sqlite")
            let remote = OrderedRemote()
            let documents = Self.count / 10
            do {
                let (container, engine) = try await filled(url, remote) { "p\($0 % documents)" }
                remote.isBusy = false
                remote.limit = Self.count / 2
                try await engine.retryNow()
                try await eventually { remote.isBusy }
                try await container.storage.close()
            }
            #expect(remote.prices.values.reduce(0) { $0 + $1.count } < Self.count)
            let (container, engine) = try open(url, remote)
            (remote.isBusy, remote.limit) = (false, .max)
            await engine.startListening()
            try await drained(engine)
            #expect(remote.prices.count == documents)
            for (id, prices) in remote.prices {
                let first = Int(id.dropFirst()) ?? 0
                // What was taken as the first process ended may be sent once more.
                let distinct = prices.indices.filter { $0 == 0 || prices[$0] != prices[$0 - 1] }.map { prices[$0] }
                #expect(distinct == stride(from: first, to: Self.count, by: documents).map { $0 }, "\(id)")
            }
            report("many documents", remote)
            try await container.storage.close()
        }
    }

    /// All of them are of one commit, and are sent as a few.
    @Test("Writes of one document drain as a few")
    func oneDocumentDrainsAsFew() async throws {
        try await withTemporaryFolder { folder in
            let remote = OrderedRemote()
            let url = folder.appendingPathComponent("shop.sqlite")
            let (container, engine) = try await filled(url, remote, commitSize: Self.count) { _ in "p" }
            remote.isBusy = false
            try await engine.retryNow()
            try await drained(engine)
            let prices = remote.prices["p"] ?? []
            #expect(prices == prices.sorted())
            #expect(prices.last == Self.count - 1)
            #expect(prices.count <= 1 + Self.count / 100)
            report("one document", remote)
            try await container.storage.close()
        }
    }

    private func open(
        _ url: URL, _ remote: OrderedRemote
    ) throws -> (PersistenceContainer, CollectionSyncEngine<Product>) {
        let container = try PersistenceContainer.file(at: url) { $0.autoSchema(ProductRecord.self) }
        return (
            container,
            withDatabaseContainer(container) { CollectionSyncEngine(remote: remote, managerKey: "products") }
        )
    }

    /// A store with that many writes that weren't sent.
    private func filled(
        _ url: URL, _ remote: OrderedRemote, commitSize: Int = 100, id: @escaping @Sendable (Int) -> String
    ) async throws -> (PersistenceContainer, CollectionSyncEngine<Product>) {
        let (container, engine) = try open(url, remote)
        remote.isBusy = true
        await engine.startListening()
        let start = ContinuousClock.now
        for chunk in stride(from: 0, to: Self.count, by: commitSize) {
            try await container.storage.write { tx in
                for number in chunk..<min(chunk + commitSize, Self.count) {
                    try tx.save(Product(id(number), price: Double(number)))
                }
            }
        }
        try await eventually { engine.pendingCount == Self.count }
        print("\(Self.count) writes are known after \(ContinuousClock.now - start), \(Self.memory)")
        remote.start = .now
        return (container, engine)
    }

    private func drained(_ engine: CollectionSyncEngine<Product>) async throws {
        var count = Int.max
        // As long as there is progress.
        while engine.pendingCount > 0, engine.pendingCount < count {
            count = engine.pendingCount
            let deadline = ContinuousClock.now + .seconds(60)
            while engine.pendingCount == count, ContinuousClock.now < deadline {
                try await Task.sleep(for: .milliseconds(5))
            }
        }
        #expect(engine.pendingCount == 0)
    }

    private func report(_ name: String, _ remote: OrderedRemote) {
        print("\(name): drained after \(ContinuousClock.now - remote.start), \(Self.memory)")
    }

    private static var memory: String {
        "\(Int(ProcessMemory.resident / 1_000_000)) MB resident, \(Int(ProcessMemory.peak / 1_000_000)) at the most"
    }
}

/// A remote that notes the prices that each document was given, and is busy after so many writes.
@MainActor
private final class OrderedRemote: RemoteCollectionService {
    var isBusy = false
    var limit = Int.max
    var start = ContinuousClock.now
    private(set) var prices: [String: [Int]] = [:]
    private var documents: [String: Product] = [:]

    private func take(_ product: Product) async throws {
        if isBusy { throw RemoteError.unavailable(retryAfter: .seconds(600)) }
        documents[product.id] = product
        prices[product.id, default: []].append(Int(product.price))
        limit -= 1
        // The last one was taken, so its answer isn't lost.
        if limit == 0 { isBusy = true }
    }

    func getCollection() async throws -> [Product] { Array(documents.values) }
    func getDocuments(query: QueryBuilder) async throws -> [Product] { [] }
    func getDocument(id: String) async throws -> Product {
        guard let document = documents[id] else { throw RemoteError.notFound }
        return document
    }
    func saveDocument(_ model: Product) async throws { try await take(model) }
    func updateDocument(id: String, data: [String: any DMCodableSendable]) async throws {
        guard var document = documents[id] else { throw RemoteError.notFound }
        if let price = data["price"] as? Double { document.price = price }
        if let price = data["price"] as? Int { document.price = Double(price) }
        try await take(document)
    }
    func deleteDocument(id: String) async throws { documents[id] = nil }
    func streamDocument(id: String) -> AsyncThrowingStream<Product?, any Error> { AsyncThrowingStream { _ in } }
    func streamCollectionUpdates() -> (
        updates: AsyncThrowingStream<Product, any Error>, deletions: AsyncThrowingStream<String, any Error>
    ) { (AsyncThrowingStream { _ in }, AsyncThrowingStream { _ in }) }
}
