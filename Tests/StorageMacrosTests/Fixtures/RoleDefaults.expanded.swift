// swift-format-ignore-file

struct Note {
    var id: String
    var tags: [String] = []
    var weights: [String: [Double]] = ["a": [1, -2.5], "b": []]
    var none: [String: Int] = [:]
    var made: [Int] = Array(1...3)
    var mixed: [Date] = [.distantPast, .now]
    var mood: Mood = .good
}
nonisolated struct NoteRecord {
    typealias E = Note

    static let databaseTableName = "notes"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageLog._StorageJSON.column("tags", [String].self, default: []),
            StorageLog._StorageJSON.column("weights", [String: [Double]].self, default: ["a": [1, -2.5], "b": []]),
            StorageLog._StorageJSON.column("none", [String: Int].self, default: [:]),
            StorageLog._StorageJSON.column("made", [Int].self).withoutNeutralValue(),
            StorageLog._StorageJSON.column("mixed", [Date].self).withoutNeutralValue(),
            StorageLog._StorageJSON.column("mood", Mood.self, default: .good),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let tags = StorageCore.StorageColumn<StorageLog.StoredJSON<[String]>>("tags")
        let weights = StorageCore.StorageColumn<StorageLog.StoredJSON<[String: [Double]]>>("weights")
        let none = StorageCore.StorageColumn<StorageLog.StoredJSON<[String: Int]>>("none")
        let made = StorageCore.StorageColumn<StorageLog.StoredJSON<[Int]>>("made")
        let mixed = StorageCore.StorageColumn<StorageLog.StoredJSON<[Date]>>("mixed")
        let mood = StorageCore.StorageColumn<StorageLog.StoredJSON<Mood>>("mood")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case tags
        case weights
        case none
        case made
        case mixed
        case mood
        case updatedAt
    }

    var id: String
    var tags: [String]
    var weights: [String: [Double]]
    var none: [String: Int]
    var made: [Int]
    var mixed: [Date]
    var mood: Mood
    var updatedAt: Foundation.Date

    init(id: String, tags: [String], weights: [String: [Double]], none: [String: Int], made: [Int], mixed: [Date], mood: Mood, updatedAt: Foundation.Date) {
        self.id = id
        self.tags = tags
        self.weights = weights
        self.none = none
        self.made = made
        self.mixed = mixed
        self.mood = mood
        self.updatedAt = updatedAt
    }

    func asEntity() -> Note {
        Note(id: self.id, tags: self.tags, weights: self.weights, none: self.none, made: self.made, mixed: self.mixed, mood: self.mood)
    }

    static func from(_ entity: Note, now: Foundation.Date) -> NoteRecord {
        NoteRecord(id: entity.id, tags: entity.tags, weights: entity.weights, none: entity.none, made: entity.made, mixed: entity.mixed, mood: entity.mood, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try StorageLog._StorageJSON.write(self.tags, to: row, at: 2)
        try StorageLog._StorageJSON.write(self.weights, to: row, at: 3)
        try StorageLog._StorageJSON.write(self.none, to: row, at: 4)
        try StorageLog._StorageJSON.write(self.made, to: row, at: 5)
        try StorageLog._StorageJSON.write(self.mixed, to: row, at: 6)
        try StorageLog._StorageJSON.write(self.mood, to: row, at: 7)
        try row.write(self.updatedAt, at: 8)
    }

    init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(String.self, at: 0)
        self.tags = try StorageLog._StorageJSON.read([String].self, from: row, at: 1)
        self.weights = try StorageLog._StorageJSON.read([String: [Double]].self, from: row, at: 2)
        self.none = try StorageLog._StorageJSON.read([String: Int].self, from: row, at: 3)
        self.made = try StorageLog._StorageJSON.read([Int].self, from: row, at: 4)
        self.mixed = try StorageLog._StorageJSON.read([Date].self, from: row, at: 5)
        self.mood = try StorageLog._StorageJSON.read(Mood.self, from: row, at: 6)
        self.updatedAt = try row.read(Foundation.Date.self, at: 7)
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [Note] {
        let row = rows.row
        var entities: [Note] = []
        while try rows.next() {
            entities.append(Note(id: try row.read(String.self, at: 0), tags: try StorageLog._StorageJSON.read([String].self, from: row, at: 1), weights: try StorageLog._StorageJSON.read([String: [Double]].self, from: row, at: 2), none: try StorageLog._StorageJSON.read([String: Int].self, from: row, at: 3), made: try StorageLog._StorageJSON.read([Int].self, from: row, at: 4), mixed: try StorageLog._StorageJSON.read([Date].self, from: row, at: 5), mood: try StorageLog._StorageJSON.read(Mood.self, from: row, at: 6)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.tags = try StorageLog._StorageJSON.decode([String].self, from: row, "tags")
        self.weights = try StorageLog._StorageJSON.decode([String: [Double]].self, from: row, "weights")
        self.none = try StorageLog._StorageJSON.decode([String: Int].self, from: row, "none")
        self.made = try StorageLog._StorageJSON.decode([Int].self, from: row, "made")
        self.mixed = try StorageLog._StorageJSON.decode([Date].self, from: row, "mixed")
        self.mood = try StorageLog._StorageJSON.decode(Mood.self, from: row, "mood")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._StorageJSON.encode(self.tags, to: &container, "tags")
        try StorageLog._StorageJSON.encode(self.weights, to: &container, "weights")
        try StorageLog._StorageJSON.encode(self.none, to: &container, "none")
        try StorageLog._StorageJSON.encode(self.made, to: &container, "made")
        try StorageLog._StorageJSON.encode(self.mixed, to: &container, "mixed")
        try StorageLog._StorageJSON.encode(self.mood, to: &container, "mood")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension NoteRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Note: StorageEntities.RegisteredEntity {
    typealias Record = NoteRecord
}
