// swift-format-ignore-file

struct Memo {
    var id: String
    var title: String = .init()
    var text: String = String.init()
    var count: Int = Int.init(5)
    var wait: TimeInterval = TimeInterval(60)
    var created: Date = .init()
    var tags: [String] = .init()
    var sizes: Set<Int> = .init()
    var parts: [String: [Int]] = [String: [Int]].init()
    var lists: [[Int]] = [.init()]
    var width: CGFloat = CGFloat(2)
}
nonisolated struct MemoRecord {
    typealias E = Memo

    static let databaseTableName = "memos"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("title", String.self, default: String()),
            StorageCore.ColumnSchema("text", String.self, default: String()),
            StorageCore.ColumnSchema("count", Int.self, default: Int(5)),
            StorageCore.ColumnSchema("wait", TimeInterval.self, default: TimeInterval(60)),
            StorageCore.ColumnSchema("created", Date.self).withoutNeutralValue(),
            StorageLog._StorageJSON.column("tags", [String].self, default: [String]()),
            StorageLog._StorageJSON.column("sizes", Set<Int>.self, default: Set<Int>()),
            StorageLog._StorageJSON.column("parts", [String: [Int]].self, default: [:]),
            StorageLog._StorageJSON.column("lists", [[Int]].self).withoutNeutralValue(),
            StorageLog._StorageJSON.column("width", CGFloat.self, default: CGFloat(2)),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let title = StorageCore.StorageColumn<String>("title")
        let text = StorageCore.StorageColumn<String>("text")
        let count = StorageCore.StorageColumn<Int>("count")
        let wait = StorageCore.StorageColumn<TimeInterval>("wait")
        let created = StorageCore.StorageColumn<Date>("created")
        let tags = StorageCore.StorageColumn<StorageLog.StoredJSON<[String]>>("tags")
        let sizes = StorageCore.StorageColumn<StorageLog.StoredJSON<Set<Int>>>("sizes")
        let parts = StorageCore.StorageColumn<StorageLog.StoredJSON<[String: [Int]]>>("parts")
        let lists = StorageCore.StorageColumn<StorageLog.StoredJSON<[[Int]]>>("lists")
        let width = StorageCore.StorageColumn<StorageLog.StoredJSON<CGFloat>>("width")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case title
        case text
        case count
        case wait
        case created
        case tags
        case sizes
        case parts
        case lists
        case width
        case updatedAt
    }

    var id: String
    var title: String
    var text: String
    var count: Int
    var wait: TimeInterval
    var created: Date
    var tags: [String]
    var sizes: Set<Int>
    var parts: [String: [Int]]
    var lists: [[Int]]
    var width: CGFloat
    var updatedAt: Foundation.Date

    init(id: String, title: String, text: String, count: Int, wait: TimeInterval, created: Date, tags: [String], sizes: Set<Int>, parts: [String: [Int]], lists: [[Int]], width: CGFloat, updatedAt: Foundation.Date) {
        self.id = id
        self.title = title
        self.text = text
        self.count = count
        self.wait = wait
        self.created = created
        self.tags = tags
        self.sizes = sizes
        self.parts = parts
        self.lists = lists
        self.width = width
        self.updatedAt = updatedAt
    }

    func asEntity() -> Memo {
        Memo(id: self.id, title: self.title, text: self.text, count: self.count, wait: self.wait, created: self.created, tags: self.tags, sizes: self.sizes, parts: self.parts, lists: self.lists, width: self.width)
    }

    static func from(_ entity: Memo, now: Foundation.Date) -> MemoRecord {
        MemoRecord(id: entity.id, title: entity.title, text: entity.text, count: entity.count, wait: entity.wait, created: entity.created, tags: entity.tags, sizes: entity.sizes, parts: entity.parts, lists: entity.lists, width: entity.width, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.title, at: 2)
        try row.write(self.text, at: 3)
        try row.write(self.count, at: 4)
        try row.write(self.wait, at: 5)
        try row.write(self.created, at: 6)
        try StorageLog._StorageJSON.write(self.tags, to: row, at: 7)
        try StorageLog._StorageJSON.write(self.sizes, to: row, at: 8)
        try StorageLog._StorageJSON.write(self.parts, to: row, at: 9)
        try StorageLog._StorageJSON.write(self.lists, to: row, at: 10)
        try StorageLog._StorageJSON.write(self.width, to: row, at: 11)
        try row.write(self.updatedAt, at: 12)
    }

    init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(String.self, at: 0)
        self.title = try row.read(String.self, at: 1)
        self.text = try row.read(String.self, at: 2)
        self.count = try row.read(Int.self, at: 3)
        self.wait = try row.read(TimeInterval.self, at: 4)
        self.created = try row.read(Date.self, at: 5)
        self.tags = try StorageLog._StorageJSON.read([String].self, from: row, at: 6)
        self.sizes = try StorageLog._StorageJSON.read(Set<Int>.self, from: row, at: 7)
        self.parts = try StorageLog._StorageJSON.read([String: [Int]].self, from: row, at: 8)
        self.lists = try StorageLog._StorageJSON.read([[Int]].self, from: row, at: 9)
        self.width = try StorageLog._StorageJSON.read(CGFloat.self, from: row, at: 10)
        self.updatedAt = try row.read(Foundation.Date.self, at: 11)
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [Memo] {
        let row = rows.row
        var entities: [Memo] = []
        while try rows.next() {
            entities.append(Memo(id: try row.read(String.self, at: 0), title: try row.read(String.self, at: 1), text: try row.read(String.self, at: 2), count: try row.read(Int.self, at: 3), wait: try row.read(TimeInterval.self, at: 4), created: try row.read(Date.self, at: 5), tags: try StorageLog._StorageJSON.read([String].self, from: row, at: 6), sizes: try StorageLog._StorageJSON.read(Set<Int>.self, from: row, at: 7), parts: try StorageLog._StorageJSON.read([String: [Int]].self, from: row, at: 8), lists: try StorageLog._StorageJSON.read([[Int]].self, from: row, at: 9), width: try StorageLog._StorageJSON.read(CGFloat.self, from: row, at: 10)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.title = try StorageLog._ColumnCoding.decode(String.self, from: row, "title")
        self.text = try StorageLog._ColumnCoding.decode(String.self, from: row, "text")
        self.count = try StorageLog._ColumnCoding.decode(Int.self, from: row, "count")
        self.wait = try StorageLog._ColumnCoding.decode(TimeInterval.self, from: row, "wait")
        self.created = try StorageLog._ColumnCoding.decode(Date.self, from: row, "created")
        self.tags = try StorageLog._StorageJSON.decode([String].self, from: row, "tags")
        self.sizes = try StorageLog._StorageJSON.decode(Set<Int>.self, from: row, "sizes")
        self.parts = try StorageLog._StorageJSON.decode([String: [Int]].self, from: row, "parts")
        self.lists = try StorageLog._StorageJSON.decode([[Int]].self, from: row, "lists")
        self.width = try StorageLog._StorageJSON.decode(CGFloat.self, from: row, "width")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.title, to: &container, "title")
        try StorageLog._ColumnCoding.encode(self.text, to: &container, "text")
        try StorageLog._ColumnCoding.encode(self.count, to: &container, "count")
        try StorageLog._ColumnCoding.encode(self.wait, to: &container, "wait")
        try StorageLog._ColumnCoding.encode(self.created, to: &container, "created")
        try StorageLog._StorageJSON.encode(self.tags, to: &container, "tags")
        try StorageLog._StorageJSON.encode(self.sizes, to: &container, "sizes")
        try StorageLog._StorageJSON.encode(self.parts, to: &container, "parts")
        try StorageLog._StorageJSON.encode(self.lists, to: &container, "lists")
        try StorageLog._StorageJSON.encode(self.width, to: &container, "width")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension MemoRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Memo: StorageEntities.RegisteredEntity {
    typealias Record = MemoRecord
}
