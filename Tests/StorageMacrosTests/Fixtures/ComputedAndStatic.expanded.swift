// swift-format-ignore-file

struct User {
    static let limit = 3
    static var shared: String { "x" }
    var id: String
    var first: String
    var last: String { didSet { print(oldValue) } }
    var age: Int = 3 {
        willSet { print(newValue) }
    }
    var full: String { first + last }
    var alias: String {
        get { first }
        set { first = newValue }
    }
    subscript(index: Int) -> Int { index }
    func greet() {}
}
nonisolated struct UserRecord {
    typealias E = User

    static let databaseTableName = "users"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("first", String.self),
            StorageCore.ColumnSchema("last", String.self),
            StorageCore.ColumnSchema("age", Int.self, default: 3),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let first = StorageCore.StorageColumn<String>("first")
        let last = StorageCore.StorageColumn<String>("last")
        let age = StorageCore.StorageColumn<Int>("age")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case first
        case last
        case age
        case updatedAt
    }

    var id: String
    var first: String
    var last: String
    var age: Int
    var updatedAt: Foundation.Date

    init(id: String, first: String, last: String, age: Int, updatedAt: Foundation.Date) {
        self.id = id
        self.first = first
        self.last = last
        self.age = age
        self.updatedAt = updatedAt
    }

    func asEntity() -> User {
        User(id: self.id, first: self.first, last: self.last, age: self.age)
    }

    static func from(_ entity: User, now: Foundation.Date) -> UserRecord {
        UserRecord(id: entity.id, first: entity.first, last: entity.last, age: entity.age, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.first, at: 2)
        try row.write(self.last, at: 3)
        try row.write(self.age, at: 4)
        try row.write(self.updatedAt, at: 5)
    }

    init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(String.self, at: 0)
        self.first = try row.read(String.self, at: 1)
        self.last = try row.read(String.self, at: 2)
        self.age = try row.read(Int.self, at: 3)
        self.updatedAt = try row.read(Foundation.Date.self, at: 4)
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [User] {
        let row = rows.row
        var entities: [User] = []
        while try rows.next() {
            entities.append(User(id: try row.read(String.self, at: 0), first: try row.read(String.self, at: 1), last: try row.read(String.self, at: 2), age: try row.read(Int.self, at: 3)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.first = try StorageLog._ColumnCoding.decode(String.self, from: row, "first")
        self.last = try StorageLog._ColumnCoding.decode(String.self, from: row, "last")
        self.age = try StorageLog._ColumnCoding.decode(Int.self, from: row, "age")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.first, to: &container, "first")
        try StorageLog._ColumnCoding.encode(self.last, to: &container, "last")
        try StorageLog._ColumnCoding.encode(self.age, to: &container, "age")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension UserRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension User: StorageEntities.RegisteredEntity {
    typealias Record = UserRecord
}
