// swift-format-ignore-file

struct Job {
    var id: String = UUID().uuidString
    var timeout: Int = 60 * 60
    var most: Int = Int.max - 1
    var flags: UInt8 = (1 << 3) | ~0
    var kind: Kind = Kind.one
    var state: State? = Job.State.idle
    var isOpen: Bool = !false
    var least: Double = -.infinity
    var tries: Int? = Int(5)
    var note: String? = nil
    var hours: Int = hour * 24
    var start: Date = Date()
    var end: Date = Date.distantFuture
    var owner: String = Settings.owner
    var names: [String?] = [nil, "a"]
    var sizes: [Int] = [60 * 60, Int.max]
    var parts: [String] = [String]()
    var codes: [String] = [String](repeating: "a", count: 2)

    enum State: Int { case idle 
}
}
nonisolated struct JobRecord {
    typealias E = Job

    static let databaseTableName = "jobs"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("timeout", Int.self, default: 60 * 60),
            StorageCore.ColumnSchema("most", Int.self, default: Int.max - 1),
            StorageCore.ColumnSchema("flags", UInt8.self, default: (1 << 3) | ~0),
            StorageCore.ColumnSchema("kind", Kind.self, default: Kind.one),
            StorageCore.ColumnSchema("state", Job.State?.self, default: Job.State.idle),
            StorageCore.ColumnSchema("isOpen", Bool.self, default: !false),
            StorageCore.ColumnSchema("least", Double.self, default: -.infinity),
            StorageCore.ColumnSchema("tries", Int?.self, default: Int(5)),
            StorageCore.ColumnSchema("note", String?.self),
            StorageCore.ColumnSchema("hours", Int.self).withoutNeutralValue(),
            StorageCore.ColumnSchema("start", Date.self).withoutNeutralValue(),
            StorageCore.ColumnSchema("end", Date.self, default: Date.distantFuture),
            StorageCore.ColumnSchema("owner", String.self).withoutNeutralValue(),
            StorageLog._StorageJSON.column("names", [String?].self, default: [nil, "a"]),
            StorageLog._StorageJSON.column("sizes", [Int].self, default: [60 * 60, Int.max]),
            StorageLog._StorageJSON.column("parts", [String].self, default: []),
            StorageLog._StorageJSON.column("codes", [String].self).withoutNeutralValue(),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let timeout = StorageCore.StorageColumn<Int>("timeout")
        let most = StorageCore.StorageColumn<Int>("most")
        let flags = StorageCore.StorageColumn<UInt8>("flags")
        let kind = StorageCore.StorageColumn<Kind>("kind")
        let state = StorageCore.StorageColumn<Job.State?>("state")
        let isOpen = StorageCore.StorageColumn<Bool>("isOpen")
        let least = StorageCore.StorageColumn<Double>("least")
        let tries = StorageCore.StorageColumn<Int?>("tries")
        let note = StorageCore.StorageColumn<String?>("note")
        let hours = StorageCore.StorageColumn<Int>("hours")
        let start = StorageCore.StorageColumn<Date>("start")
        let end = StorageCore.StorageColumn<Date>("end")
        let owner = StorageCore.StorageColumn<String>("owner")
        let names = StorageCore.StorageColumn<StorageLog.StoredJSON<[String?]>>("names")
        let sizes = StorageCore.StorageColumn<StorageLog.StoredJSON<[Int]>>("sizes")
        let parts = StorageCore.StorageColumn<StorageLog.StoredJSON<[String]>>("parts")
        let codes = StorageCore.StorageColumn<StorageLog.StoredJSON<[String]>>("codes")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case timeout
        case most
        case flags
        case kind
        case state
        case isOpen
        case least
        case tries
        case note
        case hours
        case start
        case end
        case owner
        case names
        case sizes
        case parts
        case codes
        case updatedAt
    }

    var id: String
    var timeout: Int
    var most: Int
    var flags: UInt8
    var kind: Kind
    var state: Job.State?
    var isOpen: Bool
    var least: Double
    var tries: Int?
    var note: String?
    var hours: Int
    var start: Date
    var end: Date
    var owner: String
    var names: [String?]
    var sizes: [Int]
    var parts: [String]
    var codes: [String]
    var updatedAt: Foundation.Date

    init(id: String, timeout: Int, most: Int, flags: UInt8, kind: Kind, state: Job.State?, isOpen: Bool, least: Double, tries: Int?, note: String?, hours: Int, start: Date, end: Date, owner: String, names: [String?], sizes: [Int], parts: [String], codes: [String], updatedAt: Foundation.Date) {
        self.id = id
        self.timeout = timeout
        self.most = most
        self.flags = flags
        self.kind = kind
        self.state = state
        self.isOpen = isOpen
        self.least = least
        self.tries = tries
        self.note = note
        self.hours = hours
        self.start = start
        self.end = end
        self.owner = owner
        self.names = names
        self.sizes = sizes
        self.parts = parts
        self.codes = codes
        self.updatedAt = updatedAt
    }

    func asEntity() -> Job {
        Job(id: self.id, timeout: self.timeout, most: self.most, flags: self.flags, kind: self.kind, state: self.state, isOpen: self.isOpen, least: self.least, tries: self.tries, note: self.note, hours: self.hours, start: self.start, end: self.end, owner: self.owner, names: self.names, sizes: self.sizes, parts: self.parts, codes: self.codes)
    }

    static func from(_ entity: Job, now: Foundation.Date) -> JobRecord {
        JobRecord(id: entity.id, timeout: entity.timeout, most: entity.most, flags: entity.flags, kind: entity.kind, state: entity.state, isOpen: entity.isOpen, least: entity.least, tries: entity.tries, note: entity.note, hours: entity.hours, start: entity.start, end: entity.end, owner: entity.owner, names: entity.names, sizes: entity.sizes, parts: entity.parts, codes: entity.codes, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.timeout, at: 2)
        try row.write(self.most, at: 3)
        try row.write(self.flags, at: 4)
        try row.write(self.kind, at: 5)
        try row.write(self.state, at: 6)
        try row.write(self.isOpen, at: 7)
        try row.write(self.least, at: 8)
        try row.write(self.tries, at: 9)
        try row.write(self.note, at: 10)
        try row.write(self.hours, at: 11)
        try row.write(self.start, at: 12)
        try row.write(self.end, at: 13)
        try row.write(self.owner, at: 14)
        try StorageLog._StorageJSON.write(self.names, to: row, at: 15)
        try StorageLog._StorageJSON.write(self.sizes, to: row, at: 16)
        try StorageLog._StorageJSON.write(self.parts, to: row, at: 17)
        try StorageLog._StorageJSON.write(self.codes, to: row, at: 18)
        try row.write(self.updatedAt, at: 19)
    }

    init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(String.self, at: 0)
        self.timeout = try row.read(Int.self, at: 1)
        self.most = try row.read(Int.self, at: 2)
        self.flags = try row.read(UInt8.self, at: 3)
        self.kind = try row.read(Kind.self, at: 4)
        self.state = try row.read(Job.State?.self, at: 5)
        self.isOpen = try row.read(Bool.self, at: 6)
        self.least = try row.read(Double.self, at: 7)
        self.tries = try row.read(Int?.self, at: 8)
        self.note = try row.read(String?.self, at: 9)
        self.hours = try row.read(Int.self, at: 10)
        self.start = try row.read(Date.self, at: 11)
        self.end = try row.read(Date.self, at: 12)
        self.owner = try row.read(String.self, at: 13)
        self.names = try StorageLog._StorageJSON.read([String?].self, from: row, at: 14)
        self.sizes = try StorageLog._StorageJSON.read([Int].self, from: row, at: 15)
        self.parts = try StorageLog._StorageJSON.read([String].self, from: row, at: 16)
        self.codes = try StorageLog._StorageJSON.read([String].self, from: row, at: 17)
        self.updatedAt = try row.read(Foundation.Date.self, at: 18)
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [Job] {
        let row = rows.row
        var entities: [Job] = []
        while try rows.next() {
            entities.append(Job(id: try row.read(String.self, at: 0), timeout: try row.read(Int.self, at: 1), most: try row.read(Int.self, at: 2), flags: try row.read(UInt8.self, at: 3), kind: try row.read(Kind.self, at: 4), state: try row.read(Job.State?.self, at: 5), isOpen: try row.read(Bool.self, at: 6), least: try row.read(Double.self, at: 7), tries: try row.read(Int?.self, at: 8), note: try row.read(String?.self, at: 9), hours: try row.read(Int.self, at: 10), start: try row.read(Date.self, at: 11), end: try row.read(Date.self, at: 12), owner: try row.read(String.self, at: 13), names: try StorageLog._StorageJSON.read([String?].self, from: row, at: 14), sizes: try StorageLog._StorageJSON.read([Int].self, from: row, at: 15), parts: try StorageLog._StorageJSON.read([String].self, from: row, at: 16), codes: try StorageLog._StorageJSON.read([String].self, from: row, at: 17)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.timeout = try StorageLog._ColumnCoding.decode(Int.self, from: row, "timeout")
        self.most = try StorageLog._ColumnCoding.decode(Int.self, from: row, "most")
        self.flags = try StorageLog._ColumnCoding.decode(UInt8.self, from: row, "flags")
        self.kind = try StorageLog._ColumnCoding.decode(Kind.self, from: row, "kind")
        self.state = try StorageLog._ColumnCoding.decode(Job.State?.self, from: row, "state")
        self.isOpen = try StorageLog._ColumnCoding.decode(Bool.self, from: row, "isOpen")
        self.least = try StorageLog._ColumnCoding.decode(Double.self, from: row, "least")
        self.tries = try StorageLog._ColumnCoding.decode(Int?.self, from: row, "tries")
        self.note = try StorageLog._ColumnCoding.decode(String?.self, from: row, "note")
        self.hours = try StorageLog._ColumnCoding.decode(Int.self, from: row, "hours")
        self.start = try StorageLog._ColumnCoding.decode(Date.self, from: row, "start")
        self.end = try StorageLog._ColumnCoding.decode(Date.self, from: row, "end")
        self.owner = try StorageLog._ColumnCoding.decode(String.self, from: row, "owner")
        self.names = try StorageLog._StorageJSON.decode([String?].self, from: row, "names")
        self.sizes = try StorageLog._StorageJSON.decode([Int].self, from: row, "sizes")
        self.parts = try StorageLog._StorageJSON.decode([String].self, from: row, "parts")
        self.codes = try StorageLog._StorageJSON.decode([String].self, from: row, "codes")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.timeout, to: &container, "timeout")
        try StorageLog._ColumnCoding.encode(self.most, to: &container, "most")
        try StorageLog._ColumnCoding.encode(self.flags, to: &container, "flags")
        try StorageLog._ColumnCoding.encode(self.kind, to: &container, "kind")
        try StorageLog._ColumnCoding.encode(self.state, to: &container, "state")
        try StorageLog._ColumnCoding.encode(self.isOpen, to: &container, "isOpen")
        try StorageLog._ColumnCoding.encode(self.least, to: &container, "least")
        try StorageLog._ColumnCoding.encode(self.tries, to: &container, "tries")
        try StorageLog._ColumnCoding.encode(self.note, to: &container, "note")
        try StorageLog._ColumnCoding.encode(self.hours, to: &container, "hours")
        try StorageLog._ColumnCoding.encode(self.start, to: &container, "start")
        try StorageLog._ColumnCoding.encode(self.end, to: &container, "end")
        try StorageLog._ColumnCoding.encode(self.owner, to: &container, "owner")
        try StorageLog._StorageJSON.encode(self.names, to: &container, "names")
        try StorageLog._StorageJSON.encode(self.sizes, to: &container, "sizes")
        try StorageLog._StorageJSON.encode(self.parts, to: &container, "parts")
        try StorageLog._StorageJSON.encode(self.codes, to: &container, "codes")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension JobRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Job: StorageEntities.RegisteredEntity {
    typealias Record = JobRecord
}
