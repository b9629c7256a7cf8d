import Foundation
import PredicateTestSupport
import StorageSync
import TestSupport
import Testing

/// Devices that write the same few documents at random, offline at times, with processes that end, answers that get lost and
/// writes that are refused: once all is well again, nothing is pending and everybody has what the remote has.
@MainActor @Suite struct SyncConvergenceTests {
    @Test("Devices converge", arguments: testSeeds(6))
    func devicesConverge(seed: UInt64) async throws {
        try await withTemporaryFolder { folder in
            var random = PredicateGenerator(seed: seed)
            let mock = MockRemoteCollectionService<Product>(
                collection: (0..<3).map { Product("p\($0)") }, delay: .zero)
            var devices: [Device] = []
            for number in 0..<2 {
                devices.append(try Device(at: folder.appendingPathComponent("\(number).sqlite"), mock))
            }
            for step in 0..<30 {
                let place = Int.random(in: 0..<devices.count, using: &random)
                try await devices[place].act(step, &random)
                if Int.random(in: 0..<8, using: &random) == 0 { devices[place] = try await devices[place].restarted() }
                if Int.random(in: 0..<6, using: &random) == 0 {
                    mock.failure = mock.failure == nil ? RemoteError.unavailable() : nil
                }
                // Time to send before it continues.
                if Int.random(in: 0..<4, using: &random) == 0 { try await Task.sleep(for: .milliseconds(5)) }
            }
            mock.failure = nil
            for device in devices { try await device.heal() }
            // What one sends last, the other has to receive.
            for device in devices {
                try await eventually {
                    let collection = mock.collection.sorted { $0.id < $1.id }
                    return try await device.shop.stored() == collection && device.engine.currentCollection == collection
                        && device.engine.pendingCount == 0
                }
                #expect(device.engine.pendingCount == 0, "seed \(seed)")
                #expect(
                    device.engine.currentCollection == mock.collection.sorted { $0.id < $1.id }, "seed \(seed)")
                #expect(try await device.shop.stored() == device.engine.currentCollection, "seed \(seed)")
                try await device.shop.storage.close()
            }
        }
    }
}

/// A store with its engine, and a remote that may refuse.
@MainActor
private struct Device {
    let url: URL
    let shop: SyncedShop
    let engine: CollectionSyncEngine<Product>

    init(at url: URL, _ mock: MockRemoteCollectionService<Product>) throws {
        self.url = url
        shop = try SyncedShop(at: url, mock: mock)
        engine = shop.engine()
    }

    /// The process ends, and another one begins.
    func restarted() async throws -> Device {
        try await shop.storage.close()
        return try Device(at: url, shop.mock)
    }

    func act(_ step: Int, _ random: inout PredicateGenerator) async throws {
        let id = "p\(Int.random(in: 0..<4, using: &random))"
        switch Int.random(in: 0..<10, using: &random) {
        case 0, 1: try await engine.saveDocument(Product(id, name: "saved \(step)"))
        case 2...4:
            if engine.getDocument(id: id) != nil {
                // The document may be deleted by what is received meanwhile.
                do {
                    let data: [String: any DMCodableSendable] =
                        Bool.random(using: &random) ? ["price": Double(step)] : ["note": "note \(step)"]
                    try await engine.updateDocument(id: id, data: data)
                } catch is StorageError {} catch is RemoteError {}
            }
        case 5:
            try await shop.storage.write { tx in
                try tx.execute("UPDATE products SET name = 'renamed' WHERE id = ?", [id])
            }
        case 6: try await shop.storage.delete(Product.self, id: id)
        case 7: await engine.startListening()
        case 8: engine.stopListening(clearCaches: Bool.random(using: &random))
        default:
            switch Int.random(in: 0..<3, using: &random) {
            case 0: shop.remote.lostAnswers = 1
            case 1: shop.remote.errors[id] = RemoteError.rejected("not today")
            default: shop.remote.errors = [:]
            }
        }
    }

    /// Nothing fails any more, and what was refused is given up.
    func heal() async throws {
        shop.remote.errors = [:]
        shop.remote.lostAnswers = 0
        await engine.startListening()
        try await eventually {
            try await engine.retryNow()
            if let parked = engine.parked.first { try await engine.discard(parked) }
            // Time to send before it continues.
            try await Task.sleep(for: .milliseconds(5))
            return engine.pendingCount == 0
        }
    }
}
