import Foundation
import StorageKit

/// What the shop has of one thing, which is named by its id.
@StorageEntity
struct Item {
    var id: String
    var count: Int
}

/// More was to be taken than there is.
struct OutOfStock: Error, CustomStringConvertible {
    let description: String
}

/// The stock of a shop, in a store that knows each change of it: the program of the tutorial.
struct Stock {
    let storage: Storage

    init(at url: URL) throws {
        storage = try StorageKit.start(at: url) { schema in
            schema.autoSchema(ItemRecord.self)
        }.facade
    }

    func change(_ id: String, by difference: Int, reason: String?) async throws -> Item {
        let (item, _) = try await storage.write(reason: reason) { tx in
            var item = try tx.get(Item.self, id: id) ?? Item(id: id, count: 0)
            guard item.count + difference >= 0 else {
                throw OutOfStock(description: "Only \(item.count) \(id) left.")
            }
            item.count += difference
            try tx.save(item)
            return item
        }
        return item
    }

    func list() async throws -> [Item] {
        try await storage.query(Item.self).where { $0.count > 0 }.orderBy(\.id).fetch()
    }

    func history(of id: String) async throws -> [String] {
        try await storage.history(Item.self, id: id).map { version in
            let count = try version.entity?.count ?? 0
            let metadata = version.commit.metadata
            return "\(count) by \(metadata.actor ?? "-"): \(metadata.reason ?? "no reason")"
        }
    }

    func undo() async throws -> String {
        let report = try await storage.undo(of: CommitContext.actor, reason: "undo")
        let undone = try await storage.log.commit(at: .commit(report.revertedCommit ?? 0))
        return "Undone: \(undone.metadata.reason ?? "commit \(undone.number)")"
    }

    func redo() async throws {
        try await storage.redo(of: CommitContext.actor, reason: "redo")
    }
}
