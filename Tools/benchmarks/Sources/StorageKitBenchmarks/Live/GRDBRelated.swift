import Foundation
import GRDB

/// Lists of owners with their children, observed by GRDB.
enum GRDBRelated {
    private struct Shelf: FetchableRecord, TableRecord {
        static let databaseTableName = "shelves"
        static let boxes = hasMany(Box.self, using: ForeignKey(["shelfId"]))
        let id: Int
        let room: Int

        init(row: Row) { (id, room) = (row["id"], row["room"]) }
    }

    private struct Box: FetchableRecord, TableRecord {
        static let databaseTableName = "boxes"
        let id: Int
        let shelfId: Int
        let weight: Int

        init(row: Row) { (id, shelfId, weight) = (row["id"], row["shelfId"], row["weight"]) }
    }

    private struct ShelfWithBoxes: FetchableRecord {
        let shelf: Shelf
        let boxes: [Box]

        init(row: Row) { (shelf, boxes) = (Shelf(row: row), row["boxes"]) }
    }

    private static let upsert =
        "INSERT INTO boxes VALUES (?, ?, ?) ON CONFLICT (id) DO UPDATE SET weight = excluded.weight"

    /// Each observation fetches again at each commit, beside the writer; all of them are waited for.
    static func contender(_ name: String, views: Int, rooms: Int, commits: Int) -> Contender {
        Contender(
            name,
            prepare: { try await open($0, rooms: rooms) },
            run: { (pool: DatabasePool) in
                try await LiveRelated.measure(views, commits, isEveryoneTold: true) { room, sightings in
                    let observation = ValueObservation.trackingConstantRegion { db in
                        try Shelf.filter(Column("room") == room).order(Column("id"))
                            .including(all: Shelf.boxes.order(Column("weight").desc).forKey("boxes"))
                            .asRequest(of: ShelfWithBoxes.self).fetchAll(db)
                    }
                    for try await shelves in observation.values(in: pool) {
                        sightings.saw(room, heaviest: shelves.reduce(0) { max($0, $1.boxes.first?.weight ?? 0) })
                    }
                } write: { id, shelf, weight in
                    try await pool.write { db in
                        try db.cachedStatement(sql: upsert).execute(arguments: [id, shelf, weight])
                    }
                }
            }, cleanup: { try $0.close() })
    }

    /// A copy of a store that is filled once.
    private static func open(_ workspace: Workspace, rooms: Int) async throws -> DatabasePool {
        let folder = try await workspace.sharedDirectory("related-grdb-\(rooms)") { folder in
            let pool = try GRDBStore.open(folder.appendingPathComponent("grdb.sqlite").path)
            try await pool.write { try fill($0, rooms: rooms) }
            try pool.close()
        }
        let path = workspace.path("grdb.sqlite")
        try FileManager.default.copyItem(atPath: folder.appendingPathComponent("grdb.sqlite").path, toPath: path)
        return try GRDBStore.open(path, isDurable: false)
    }

    private static func fill(_ db: Database, rooms: Int) throws {
        try db.execute(
            sql: """
                CREATE TABLE shelves (id INTEGER PRIMARY KEY, room INTEGER NOT NULL);
                CREATE TABLE boxes (id INTEGER PRIMARY KEY, shelfId INTEGER NOT NULL, weight INTEGER NOT NULL);
                CREATE INDEX boxes_shelf ON boxes(shelfId);
                CREATE INDEX shelves_room ON shelves(room);
                """)
        let shelves = try db.makeStatement(sql: "INSERT INTO shelves VALUES (?, ?)")
        let boxes = try db.makeStatement(sql: "INSERT INTO boxes VALUES (?, ?, ?)")
        for shelf in 0..<rooms * LiveRelated.shelvesOfARoom {
            try shelves.execute(arguments: [shelf, shelf / LiveRelated.shelvesOfARoom])
            for box in 0..<LiveRelated.boxesOfAShelf {
                try boxes.execute(arguments: [shelf * LiveRelated.boxesOfAShelf + box, shelf, box])
            }
        }
    }
}
