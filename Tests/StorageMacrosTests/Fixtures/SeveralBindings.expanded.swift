// swift-format-ignore-file

struct Point {
    var id: Int
    var x, y: Double
    var width: Int = 1, title: String
    let a: Int?, b: String
}
nonisolated struct PointRecord {
    typealias E = Point

    static let databaseTableName = "points"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", Int.self, primaryKey: true),
            StorageCore.ColumnSchema("x", Double.self),
            StorageCore.ColumnSchema("y", Double.self),
            StorageCore.ColumnSchema("width", Int.self, default: 1),
            StorageCore.ColumnSchema("title", String.self),
            StorageCore.ColumnSchema("a", Int?.self),
            StorageCore.ColumnSchema("b", String.self),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<Int>("id")
        let x = StorageCore.StorageColumn<Double>("x")
        let y = StorageCore.StorageColumn<Double>("y")
        let width = StorageCore.StorageColumn<Int>("width")
        let title = StorageCore.StorageColumn<String>("title")
        let a = StorageCore.StorageColumn<Int?>("a")
        let b = StorageCore.StorageColumn<String>("b")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case x
        case y
        case width
        case title
        case a
        case b
        case updatedAt
    }

    var id: Int
    var x: Double
    var y: Double
    var width: Int
    var title: String
    var a: Int?
    var b: String
    var updatedAt: Foundation.Date

    init(id: Int, x: Double, y: Double, width: Int, title: String, a: Int?, b: String, updatedAt: Foundation.Date) {
        self.id = id
        self.x = x
        self.y = y
        self.width = width
        self.title = title
        self.a = a
        self.b = b
        self.updatedAt = updatedAt
    }

    func asEntity() -> Point {
        Point(id: self.id, x: self.x, y: self.y, width: self.width, title: self.title, a: self.a, b: self.b)
    }

    static func from(_ entity: Point, now: Foundation.Date) -> PointRecord {
        PointRecord(id: entity.id, x: entity.x, y: entity.y, width: entity.width, title: entity.title, a: entity.a, b: entity.b, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.x, at: 2)
        try row.write(self.y, at: 3)
        try row.write(self.width, at: 4)
        try row.write(self.title, at: 5)
        try row.write(self.a, at: 6)
        try row.write(self.b, at: 7)
        try row.write(self.updatedAt, at: 8)
    }

    init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(Int.self, at: 0)
        self.x = try row.read(Double.self, at: 1)
        self.y = try row.read(Double.self, at: 2)
        self.width = try row.read(Int.self, at: 3)
        self.title = try row.read(String.self, at: 4)
        self.a = try row.read(Int?.self, at: 5)
        self.b = try row.read(String.self, at: 6)
        self.updatedAt = try row.read(Foundation.Date.self, at: 7)
    }

    static func key(of id: Int) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [Point] {
        let row = rows.row
        var entities: [Point] = []
        while try rows.next() {
            entities.append(Point(id: try row.read(Int.self, at: 0), x: try row.read(Double.self, at: 1), y: try row.read(Double.self, at: 2), width: try row.read(Int.self, at: 3), title: try row.read(String.self, at: 4), a: try row.read(Int?.self, at: 5), b: try row.read(String.self, at: 6)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(Int.self, from: row, "id")
        self.x = try StorageLog._ColumnCoding.decode(Double.self, from: row, "x")
        self.y = try StorageLog._ColumnCoding.decode(Double.self, from: row, "y")
        self.width = try StorageLog._ColumnCoding.decode(Int.self, from: row, "width")
        self.title = try StorageLog._ColumnCoding.decode(String.self, from: row, "title")
        self.a = try StorageLog._ColumnCoding.decode(Int?.self, from: row, "a")
        self.b = try StorageLog._ColumnCoding.decode(String.self, from: row, "b")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.x, to: &container, "x")
        try StorageLog._ColumnCoding.encode(self.y, to: &container, "y")
        try StorageLog._ColumnCoding.encode(self.width, to: &container, "width")
        try StorageLog._ColumnCoding.encode(self.title, to: &container, "title")
        try StorageLog._ColumnCoding.encode(self.a, to: &container, "a")
        try StorageLog._ColumnCoding.encode(self.b, to: &container, "b")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension PointRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Point: StorageEntities.RegisteredEntity {
    typealias Record = PointRecord
}
