import Foundation
import StorageKit

/// The store of lists with children.
extension LiveRelated {
    /// A copy of a store that is filled once.
    static func openStorageKit(_ workspace: Workspace, rooms: Int) async throws -> Storage {
        let folder = try await workspace.sharedDirectory("related-storagekit-\(rooms)") { folder in
            let storage = try open(folder.appendingPathComponent("storage.sqlite").path)
            for room in 0..<rooms {
                let shelves = (room * shelvesOfARoom)..<((room + 1) * shelvesOfARoom)
                try await storage.write { tx in
                    try tx.save(shelves.map { Shelf(id: $0, room: room) })
                    try tx.save(
                        shelves.flatMap { shelf in
                            (0..<boxesOfAShelf).map {
                                Box(id: shelf * boxesOfAShelf + $0, shelfId: shelf, weight: $0)
                            }
                        })
                }
            }
            try await storage.seal()
            try await storage.close()
        }
        let path = workspace.path("storage.sqlite")
        try FileManager.default.copyItem(atPath: folder.appendingPathComponent("storage.sqlite").path, toPath: path)
        return try open(path)
    }

    private static func open(_ path: String) throws -> Storage {
        var configuration = StorageConfig()
        configuration.durability = .normal
        return try StorageKit.start(at: URL(fileURLWithPath: path), config: configuration) { schema in
            schema.autoSchema(ShelfRecord.self, BoxRecord.self)
            schema.migration("foreign keys") { db in
                try db.create(index: "boxes_shelf", on: "boxes", columns: ["shelfId"])
                try db.create(index: "shelves_room", on: "shelves", columns: ["room"])
            }
        }.facade
    }
}
