import Foundation
import GRDB
import StorageKit
import Synchronization

/// Lists of owners with their latest children, followed by many readers, while children are written.
enum LiveRelated {
    @StorageEntity(table: "shelves")
    struct Shelf {
        var id: Int
        var room: Int
        @StorageHasMany(foreignKey: "shelfId") var boxes: [Box] = []
    }

    @StorageEntity(table: "boxes")
    struct Box {
        var id: Int
        var shelfId: Int
        var weight: Int
    }

    private struct GRDBShelf: Codable, FetchableRecord, TableRecord, EncodableRecord {
        static let databaseTableName = "shelves"
        static let boxes = hasMany(GRDBBox.self, using: ForeignKey(["shelfId"]))
        var id: Int
        var room: Int
    }

    private struct GRDBBox: Codable, FetchableRecord, TableRecord {
        static let databaseTableName = "boxes"
        var id: Int
        var shelfId: Int
        var weight: Int
    }

    private struct GRDBShelfWithBoxes: Decodable, FetchableRecord {
        var shelf: GRDBShelf
        var boxes: [GRDBBox]
    }

    static let shelvesOfARoom = 20
    static let boxesOfAShelf = 10
    static let shownMetric = "ms until shown, median"
    static let cpuMetric = "ms of CPU per commit"

    /// What all readers of a store report, and one who waits for a value.
    private final class Sightings: Sendable {
        private struct State {
            var first: Set<Int> = []
            var heaviest: [Int: Int] = [:]
            var wanted: (room: Int, weight: Int, reader: CheckedContinuation<Void, Never>)?
            var opening: (count: Int, reader: CheckedContinuation<Void, Never>)?
        }

        private let state = Mutex(State())

        func saw(_ room: Int, heaviest weight: Int) {
            let readers = state.withLock { state -> [CheckedContinuation<Void, Never>] in
                state.first.insert(room)
                state.heaviest[room] = weight
                var readers: [CheckedContinuation<Void, Never>] = []
                if let wanted = state.wanted, wanted.room == room, weight >= wanted.weight {
                    readers.append(wanted.reader)
                    state.wanted = nil
                }
                if let opening = state.opening, state.first.count >= opening.count {
                    readers.append(opening.reader)
                    state.opening = nil
                }
                return readers
            }
            for reader in readers { reader.resume() }
        }

        func all(_ count: Int) async {
            await withCheckedContinuation { reader in
                let isThere = state.withLock { state in
                    if state.first.count >= count { return true }
                    state.opening = (count, reader)
                    return false
                }
                if isThere { reader.resume() }
            }
        }

        func wait(for room: Int, weight: Int) async {
            await withCheckedContinuation { reader in
                let isThere = state.withLock { state in
                    if state.heaviest[room] ?? 0 >= weight { return true }
                    state.wanted = (room, weight, reader)
                    return false
                }
                if isThere { reader.resume() }
            }
        }
    }

    /// - Parameters:
    ///   - views: How many rooms are followed, one reader each, of `rooms` rooms.
    static func contenders(views: Int, rooms: Int, commits: Int, isPeer: Bool) -> [Contender] {
        let storageKit = Contender(
            name(ContenderName.storageKit, views),
            prepare: { try await openStorageKit($0, rooms: rooms) },
            run: { (storage: Storage) in
                let sightings = Sightings()
                let readers = (0..<views).map { room in
                    Task {
                        let live = storage.query(Shelf.self).where { $0.room == room }.orderBy(\.id)
                            .include(\.boxes) { $0.orderBy(\.weight, .descending) }.live()
                        for try await shelves in live.snapshots {
                            sightings.saw(room, heaviest: shelves.reduce(0) { max($0, $1.boxes.first?.weight ?? 0) })
                        }
                    }
                }
                return try await measure(views, commits, readers, sightings) { id, shelf, weight in
                    try await storage.save(Box(id: id, shelfId: shelf, weight: weight))
                }
            }, cleanup: { try await $0.close() })
        guard isPeer else { return [storageKit] }
        let grdb = Contender(
            name(ContenderName.observation, views),
            prepare: { try await openGRDB($0, rooms: rooms) },
            run: { (pool: DatabasePool) in
                let sightings = Sightings()
                let readers = (0..<views).map { room in
                    Task {
                        let observation = ValueObservation.trackingConstantRegion { db in
                            try GRDBShelf.filter(GRDB.Column("room") == room).order(GRDB.Column("id"))
                                .including(
                                    all: GRDBShelf.boxes.order(GRDB.Column("weight").desc).forKey("boxes")
                                ).asRequest(of: GRDBShelfWithBoxes.self).fetchAll(db)
                        }
                        for try await shelves in observation.values(in: pool) {
                            sightings.saw(room, heaviest: shelves.reduce(0) { max($0, $1.boxes.first?.weight ?? 0) })
                        }
                    }
                }
                return try await measure(views, commits, readers, sightings) { id, shelf, weight in
                    try await pool.write { db in
                        try db.cachedStatement(
                            sql: "INSERT INTO boxes VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET weight = excluded.weight"
                        ).execute(arguments: [id, shelf, weight])
                    }
                }
            }, cleanup: { try $0.close() })
        return [grdb, storageKit]
    }

    private static func name(_ contender: String, _ views: Int) -> String {
        "\(contender), \(Format.count(views)) views"
    }

    /// Commits one after another, each to the shelf of a room that is followed, and waits until its reader has it.
    private static func measure(
        _ views: Int, _ commits: Int, _ readers: [Task<Void, any Error>], _ sightings: Sightings,
        write: (_ box: Int, _ shelf: Int, _ weight: Int) async throws -> Void
    ) async throws -> [Metric] {
        defer { for reader in readers { reader.cancel() } }
        await sightings.all(views)
        var times: [Double] = []
        let cpu = ProcessTime.cpuSeconds()
        for commit in 0..<commits {
            let room = commit * 7 % views
            let shelf = room * shelvesOfARoom + commit % shelvesOfARoom
            let weight = 1_000 + commit
            let start = ContinuousClock.now
            try await write(shelf * boxesOfAShelf, shelf, weight)
            await sightings.wait(for: room, weight: weight)
            times.append((ContinuousClock.now - start) / .milliseconds(1))
        }
        times.sort()
        return [
            Metric(name: shownMetric, value: times[times.count / 2]),
            Metric(name: cpuMetric, value: (ProcessTime.cpuSeconds() - cpu) * 1_000 / Double(commits)),
        ]
    }

    private static func openStorageKit(_ workspace: Workspace, rooms: Int) async throws -> Storage {
        let folder = try await workspace.sharedDirectory("related-storagekit-\(rooms)") { folder in
            let storage = try open(folder.appendingPathComponent("storage.sqlite").path)
            for room in 0..<rooms {
                let shelves = (0..<shelvesOfARoom).map { room * shelvesOfARoom + $0 }
                try await storage.write { tx in
                    for shelf in shelves {
                        try tx.save(Shelf(id: shelf, room: room))
                        for box in 0..<boxesOfAShelf {
                            try tx.save(Box(id: shelf * boxesOfAShelf + box, shelfId: shelf, weight: box))
                        }
                    }
                }
            }
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

    private static func openGRDB(_ workspace: Workspace, rooms: Int) async throws -> DatabasePool {
        let pool = try GRDBStore.open(workspace.path("grdb.sqlite"))
        try await pool.write { db in
            try db.execute(
                sql: """
                    CREATE TABLE shelves (id INTEGER PRIMARY KEY, room INTEGER NOT NULL);
                    CREATE TABLE boxes (id INTEGER PRIMARY KEY, shelfId INTEGER NOT NULL, weight INTEGER NOT NULL);
                    CREATE INDEX boxes_shelf ON boxes(shelfId);
                    CREATE INDEX shelves_room ON shelves(room);
                    """)
            for shelf in 0..<rooms * shelvesOfARoom {
                try db.cachedStatement(sql: "INSERT INTO shelves VALUES (?, ?)")
                    .execute(arguments: [shelf, shelf / shelvesOfARoom])
                for box in 0..<boxesOfAShelf {
                    try db.cachedStatement(sql: "INSERT INTO boxes VALUES (?, ?, ?)")
                        .execute(arguments: [shelf * boxesOfAShelf + box, shelf, box])
                }
            }
        }
        return pool
    }
}
