import StorageEntities
import StorageKit
import StorageTesting
import Testing

/// The reference's chapter on macros: what each of them writes, against a real store.
@Suite struct ReferenceMacrosTests {
    @StorageEntity
    struct Exhibit {
        var id: String
        var title: String
        var value: Double
    }

    @StorageEntity(table: "museum_rooms")
    struct Room {
        var id: UUID
        var label: String
        var openedAt: Date?
    }

    // MARK: @StorageEntity

    @Test("An entity has a table, a record and columns")
    func generatedTypes() async throws {
        #expect(ExhibitRecord.databaseTableName == "exhibits")
        #expect(RoomRecord.databaseTableName == "museum_rooms")
        #expect(Exhibit.Record.self == ExhibitRecord.self)
        #expect(ExhibitRecord.E.self == Exhibit.self)
        #expect(
            ExhibitRecord.schemaColumns == [
                ColumnSchema(name: "id", type: "TEXT", notNull: true, primaryKey: true),
                ColumnSchema(name: "title", type: "TEXT", notNull: true),
                ColumnSchema(name: "value", type: "REAL", notNull: true),
                ColumnSchema(name: "updatedAt", type: "DATETIME", notNull: true),
            ])
        let context = try StorageKit.inMemory { $0.autoSchema(ExhibitRecord.self, RoomRecord.self) }
        let columns = try await context.storage.pool.read { db in
            (try db.columns(in: "exhibits"), try db.columns(in: "museum_rooms"), try db.primaryKey("exhibits").columns)
        }
        #expect(columns.0.map(\.name) == ["id", "title", "value", "updatedAt", "_position"])
        #expect(columns.0.allSatisfy { $0.isNotNull })
        #expect(columns.2 == ["id"])
        #expect(columns.1.first { $0.name == "openedAt" }?.isNotNull == false)
    }

    @Test("A record converts from and to its entity, and GRDB reads and writes it")
    func recordConversions() async throws {
        let now = Date(timeIntervalSinceReferenceDate: 1_000.25)
        let vase = Exhibit(id: "v", title: "Vase", value: 0.1 + 0.2)
        let record = ExhibitRecord.from(vase, now: now)
        #expect(record.asEntity() == vase)
        #expect(record.updatedAt == now)
        #expect(record.title == "Vase")
        let storage = try StorageKit.inMemory { $0.autoSchema(ExhibitRecord.self) }.facade
        try await storage.write { try record.insert($0.database) }
        let found = try await storage.read { db in try ExhibitRecord.fetchAll(db) }
        #expect(found.map { $0.asEntity() } == [vase])
        #expect(found.first?.updatedAt == now)
        #expect(try await storage.logText() == ["insert exhibits/v"])
        #expect(try await storage.get(Exhibit.self, id: "v") == vase)
    }

    @StorageEntity
    struct Measure {
        var id: Int64
        var text: String
        var uuid: UUID
        var url: URL
        var int: Int
        var int32: Int32
        var double: Double
        var float: Float
        var flag: Bool
        var date: Date
        var data: Data
    }

    @Test("Every type of the table has its column and round-trips")
    func tableOfTypes() async throws {
        let types = Dictionary(uniqueKeysWithValues: MeasureRecord.schemaColumns.map { ($0.name, $0.type) })
        #expect(types["text"] == "TEXT")
        #expect(types["uuid"] == "BLOB")
        #expect(types["url"] == "TEXT")
        #expect(types["id"] == "INTEGER")
        #expect(types["int"] == "INTEGER")
        #expect(types["int32"] == "INTEGER")
        #expect(types["double"] == "REAL")
        #expect(types["float"] == "REAL")
        #expect(types["flag"] == "BOOLEAN")
        #expect(types["date"] == "DATETIME")
        #expect(types["data"] == "BLOB")
        let storage = try StorageKit.inMemory { $0.autoSchema(MeasureRecord.self) }.facade
        let measure = Measure(
            id: .min, text: "5 µm", uuid: UUID(), url: try #require(URL(string: "https://example.com/a?b#c")),
            int: .max,
            int32: .min, double: .pi, float: .leastNonzeroMagnitude, flag: true, date: .distantFuture,
            data: Data([0, 1, 255]))
        try await storage.save(measure)
        #expect(try await storage.get(Measure.self, id: .min) == measure)
    }

    @Test("An id of any type finds its row")
    func idsOfAnyType() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(RoomRecord.self) }.facade
        let room = Room(id: UUID(), label: "East wing", openedAt: nil)
        try await storage.save(room)
        #expect(try await storage.get(Room.self, id: room.id) == room)
        #expect(try await storage.get(Room.self, id: UUID()) == nil)
    }

    // MARK: @StorageEmbedded

    struct Place: Embeddable {
        var road: String
        var town: String
        var post: String
    }

    @StorageEntity
    struct Lender {
        var id: String
        var name: String
        @StorageEmbedded(prefix: "live_") var residence: Place
        @StorageEmbedded(prefix: "ship_") var delivery: Place
    }

    @StorageEntity
    struct Gallery {
        var id: String
        @StorageEmbedded var site: Place
    }

    @Test("Embedded values are columns with their prefix")
    func embeddedPrefixes() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(LenderRecord.self, GalleryRecord.self) }.facade
        let columns = try await storage.read { db in
            (try db.columns(in: "lenders"), try db.columns(in: "gallerys").map(\.name))
        }
        #expect(
            columns.0.map(\.name) == [
                "id", "name", "live_road", "live_town", "live_post", "ship_road", "ship_town", "ship_post",
                "updatedAt", "_position",
            ])
        #expect(columns.0.allSatisfy { $0.isNotNull })
        #expect(columns.1 == ["id", "site_road", "site_town", "site_post", "updatedAt", "_position"])

        func lender(_ id: String, _ town: String, _ other: String) -> Lender {
            Lender(
                id: id, name: "Lender \(id)", residence: Place(road: "R 1", town: town, post: "1"),
                delivery: Place(road: "S 2", town: other, post: "2"))
        }
        let lenders = [lender("a", "Odesa", "Lviv"), lender("b", "Lviv", "Kharkiv"), lender("c", "Odesa", "Dnipro")]
        try await storage.save(lenders)
        #expect(try await storage.all(Lender.self) == lenders)
        let byName = try await storage.query(Lender.self).where { Column<String>("live_town") == "Odesa" }.fetch()
        let byProperty = try await storage.query(Lender.self).where { $0.residence.town == "Odesa" }.fetch()
        #expect(byName.map(\.id) == ["a", "c"])
        #expect(byProperty == byName)
        #expect(try await storage.all(Lender.self, orderBy: "ship_town").map(\.id) == ["c", "b", "a"])
    }

    // MARK: @StorageJSON

    struct Notes: Codable, Sendable, Equatable {
        var keywords: [String]
        var marks: [Int]
        var seen: Date
        var details: [String: [String: Bool]]
    }

    @StorageEntity
    struct Piece {
        var id: String
        var material: String
        @StorageJSON var labels: [String: String]
        @StorageJSON var notes: Notes
        @StorageJSON var more: [String: String]?
    }

    @Test("Anything Codable is stored as JSON text")
    func jsonText() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(PieceRecord.self) }.facade
        let seen = try #require(ISO8601DateFormatter().date(from: "2026-01-15T10:20:30Z"))
        let piece = Piece(
            id: "p", material: "oak", labels: ["size": "A0", "frame": "gold"],
            notes: Notes(keywords: ["old"], marks: [5, 4], seen: seen, details: ["x": ["y": true]]), more: nil)
        try await storage.save(piece)
        #expect(try await storage.get(Piece.self, id: "p") == piece)
        let stored = try await storage.read { db in
            try GRDB.Row.fetchOne(db, sql: "SELECT labels, notes, more FROM pieces").map { row in
                (row["labels"] as String, row["notes"] as String, row["more"] as String?)
            }
        }
        #expect(stored?.0 == #"{"frame":"gold","size":"A0"}"#)
        #expect(stored?.2 == nil)
        #expect(
            stored?.1
                == #"{"details":{"x":{"y":true}},"keywords":["old"],"marks":[5,4],"seen":"2026-01-15T10:20:30Z"}"#)
        let types = try await storage.read { db in try db.columns(in: "pieces").map { [$0.name, $0.type] } }
        #expect(types.contains(["labels", "TEXT"]))
        #expect(types.contains(["notes", "TEXT"]))
    }

    /// What is to be found belongs in a column; what only belongs to the row may be JSON beside it.
    @Test("A column is queried where JSON would need Swift")
    func columnsInsteadOfJSON() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(PieceRecord.self) }.facade
        try await storage.save(
            ["oak", "ash", "oak"].enumerated().map { number, material in
                Piece(
                    id: "\(number)", material: material, labels: ["wood": material],
                    notes: Notes(keywords: [], marks: [], seen: .distantPast, details: [:]), more: ["n": "\(number)"])
            })
        let filtered = try await storage.all(Piece.self).filter { $0.labels["wood"] == "oak" }
        let found = try await storage.query(Piece.self).where { $0.material == "oak" }.fetch()
        #expect(filtered == found)
        #expect(found.map(\.id) == ["0", "2"])
    }
}
