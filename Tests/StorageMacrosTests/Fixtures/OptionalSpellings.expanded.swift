// swift-format-ignore-file

struct User {
    var id: String
    var a: Int?
    var b: Int!
    var c: Optional<Int>
    var d: (any Codable)?
    var e: any Codable & Sendable
}
nonisolated struct UserRecord {
    typealias E = User

    static let databaseTableName = "users"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("a", Int?.self),
            StorageCore.ColumnSchema("b", Int?.self),
            StorageCore.ColumnSchema("c", Int?.self),
            StorageCore.ColumnSchema("d", (any Codable)?.self),
            StorageCore.ColumnSchema("e", (any Codable & Sendable).self),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let a = StorageCore.StorageColumn<Int?>("a")
        let b = StorageCore.StorageColumn<Int?>("b")
        let c = StorageCore.StorageColumn<Int?>("c")
        let d = StorageCore.StorageColumn<(any Codable)?>("d")
        let e = StorageCore.StorageColumn<any Codable & Sendable>("e")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case a
        case b
        case c
        case d
        case e
        case updatedAt
    }

    var id: String
    var a: Int?
    var b: Int?
    var c: Int?
    var d: (any Codable)?
    var e: any Codable & Sendable
    var updatedAt: Foundation.Date

    init(id: String, a: Int?, b: Int?, c: Int?, d: (any Codable)?, e: any Codable & Sendable, updatedAt: Foundation.Date) {
        self.id = id
        self.a = a
        self.b = b
        self.c = c
        self.d = d
        self.e = e
        self.updatedAt = updatedAt
    }

    func asEntity() -> User {
        User(id: self.id, a: self.a, b: self.b, c: self.c, d: self.d, e: self.e)
    }

    static func from(_ entity: User, now: Foundation.Date) -> UserRecord {
        UserRecord(id: entity.id, a: entity.a, b: entity.b, c: entity.c, d: entity.d, e: entity.e, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.a, at: 2)
        try row.write(self.b, at: 3)
        try row.write(self.c, at: 4)
        try row.write(self.d, at: 5)
        try row.write(self.e, at: 6)
        try row.write(self.updatedAt, at: 7)
    }

    init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(String.self, at: 0)
        self.a = try row.read(Int?.self, at: 1)
        self.b = try row.read(Int?.self, at: 2)
        self.c = try row.read(Int?.self, at: 3)
        self.d = try row.read((any Codable)?.self, at: 4)
        self.e = try row.read((any Codable & Sendable).self, at: 5)
        self.updatedAt = try row.read(Foundation.Date.self, at: 6)
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [User] {
        let row = rows.row
        var entities: [User] = []
        while try rows.next() {
            entities.append(User(id: try row.read(String.self, at: 0), a: try row.read(Int?.self, at: 1), b: try row.read(Int?.self, at: 2), c: try row.read(Int?.self, at: 3), d: try row.read((any Codable)?.self, at: 4), e: try row.read((any Codable & Sendable).self, at: 5)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.a = try StorageLog._ColumnCoding.decode(Int?.self, from: row, "a")
        self.b = try StorageLog._ColumnCoding.decode(Int?.self, from: row, "b")
        self.c = try StorageLog._ColumnCoding.decode(Int?.self, from: row, "c")
        self.d = try StorageLog._ColumnCoding.decode((any Codable)?.self, from: row, "d")
        self.e = try StorageLog._ColumnCoding.decode((any Codable & Sendable).self, from: row, "e")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.a, to: &container, "a")
        try StorageLog._ColumnCoding.encode(self.b, to: &container, "b")
        try StorageLog._ColumnCoding.encode(self.c, to: &container, "c")
        try StorageLog._ColumnCoding.encode(self.d, to: &container, "d")
        try StorageLog._ColumnCoding.encode(self.e, to: &container, "e")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension UserRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension User: StorageEntities.RegisteredEntity {
    typealias Record = UserRecord
}
