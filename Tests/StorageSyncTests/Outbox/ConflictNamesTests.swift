import Foundation
import StorageLog
import StorageTesting
import Testing

@testable import StorageSync

/// Which documents a commit of what was received names as changed on both sides.
@MainActor @Suite struct ConflictNamesTests {
    private func page(
        through position: Int64, _ operation: WriteOperation, after state: SyncStore<Product>.State
    ) -> SyncTransaction {
        var transaction = SyncTransaction(record: state.row.record)
        transaction.record.position = position
        transaction.changes = [
            RemoteChange(
                position: position, document: DocumentID(entity: "products", id: "a"), operation: operation,
                ownOrigin: nil)
        ]
        return transaction
    }

    /// A write that is committed between the driver's last look at the log and the page that is in conflict with it.
    @Test("A conflict names a write that was just committed")
    func conflictNamesRecentWrite() async throws {
        let shop = try SyncedShop()
        let store = SyncStore<Product>(
            storage: shop.storage, manager: "products", path: "products", hasRemotePositions: true)
        let first = WriteOperation.save(try DocumentFields(encoding: Product("a")).storageValues)
        var state = try await store.activate()
        state = try await store.save(page(through: 1, first, after: state), after: state)
        try await shop.storage.save(Product("a", price: 2))
        let second = WriteOperation.patch(["name": .text(#""theirs""#)])
        state = try await store.save(page(through: 2, second, after: state), after: state)
        #expect(state.rows.map(\.document.id) == ["a"])
        #expect(try await shop.stored() == [Product("a", name: "theirs", price: 2)])
        var named: [String?] = []
        for try await event in shop.storage.log.events(LogQuery(tables: ["products"])) {
            let metadata = event.commit.metadata
            if metadata.reason == "receive" { named.append(metadata.attributes["conflicts"]) }
        }
        #expect(named == [nil, "a"])
    }

    @Test("Names that don't fit are counted")
    func omittedNamesAreCounted() {
        let long = String(repeating: "x", count: 20_000)
        #expect(SyncStore<Product>.list([]) == nil)
        #expect(SyncStore<Product>.list(["a", "b"]) == "a b")
        #expect(SyncStore<Product>.list(["a", long, "b", long]) == "a b and 2 more")
        #expect(SyncStore<Product>.list([long]) == "1 more")
    }
}
