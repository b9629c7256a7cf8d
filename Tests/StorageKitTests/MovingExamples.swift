import Foundation
import GRDB
import StorageCore
import StorageEntities
import StorageHistory
import StorageKit
import StorageLog
import Testing

// The examples of the pages about moving from GRDB and from Core Data, compiled and run.

struct Player: Codable, FetchableRecord, PersistableRecord {
    var id: Int64
    var name: String
    var score: Int

    static let databaseTableName = "player"
}

enum MovingFromGRDBExample {
    @StorageEntity(table: "player")
    struct Contestant {
        var id: Int64
        var name: String
        var score: Int
    }

    static func run(_ folder: URL) async throws {
        let oldURL = folder.appending(path: "old.sqlite")
        let url = folder.appending(path: "players.sqlite")
        try await DatabaseQueue(path: oldURL.path).write { db in
            try db.create(table: "player") { table in
                table.primaryKey("id", .integer)
                table.column("name", .text).notNull()
                table.column("score", .integer).notNull()
            }
            for id in 1...3 { try Player(id: Int64(id), name: "Player \(id)", score: 100 * id).insert(db) }
        }
        try await keepRecords(oldURL, url)
        try await declareEntities(url)
    }

    private static func keepRecords(_ oldURL: URL, _ url: URL) async throws {
        let storage = try StorageKit.start(at: url) { schema in
            schema.migration("create player") { db in
                try db.create(table: "player") { table in
                    table.primaryKey("id", .integer)
                    table.column("name", .text).notNull()
                    table.column("score", .integer).notNull()
                }
            }
            schema.adopt("player")
        }.facade
        let old = try DatabaseQueue(path: oldURL.path)
        let players = try await old.read { db in try Player.fetchAll(db) }
        try await storage.write(reason: "moved from GRDB", idempotencyKey: "moved from GRDB") { tx in
            for player in players { try player.insert(tx.database) }
        }
        try await storage.write(actor: "anna", reason: "correction") { tx in
            guard var player = try Player.fetchOne(tx.database, key: 1) else { return }
            player.score += 10
            try player.update(tx.database)
        }
        let best = try await storage.read { db in
            try Player.order(GRDB.Column("score").desc).limit(10).fetchAll(db)
        }
        #expect(best.map(\.score) == [300, 200, 110])
        for try await event in storage.log.events(LogQuery(tables: ["player"], actors: ["anna"])) {
            #expect(event.old?["score"] == .integer(100))
        }
        try await storage.close()
    }

    private static func declareEntities(_ url: URL) async throws {
        let storage = try StorageKit.start(at: url) { schema in
            schema.retire("create player")
            schema.autoSchema(ContestantRecord.self)
        }.facade
        let versions = try await storage.history(Contestant.self, id: 1)
        #expect(try versions.map { try $0.entity?.score } == [100, 110])
        try await storage.close()
    }
}

enum MovingFromCoreDataExample {
    @StorageEntity
    struct Folder {
        var id: UUID
        var name: String
    }

    @StorageEntity
    struct Memo {
        var id: UUID
        var text: String
        var createdAt: Date
        var folderId: UUID?
        @StorageBelongsTo(onDelete: .cascade) var folder: Folder?
    }

    static func run(_ url: URL) async throws {
        let folder = Folder(id: UUID(), name: "Home")
        let (folders, memos) = (
            [folder], [Memo(id: UUID(), text: "milk", createdAt: Date(), folderId: folder.id, folder: nil)]
        )
        let storage = try StorageKit.start(at: url) { schema in
            schema.autoSchema(FolderRecord.self, MemoRecord.self)
        }.facade
        try await storage.write(reason: "moved from Core Data", idempotencyKey: "moved from Core Data") { tx in
            try tx.save(folders)
            try tx.save(memos)
        }
        #expect(try await storage.count(Memo.self) == 1)
        try await storage.delete(folder)
        #expect(try await storage.count(Memo.self) == 0)
        try await storage.undo()
        #expect(try await storage.count(Memo.self) == 1)
        try await storage.close()
    }
}
