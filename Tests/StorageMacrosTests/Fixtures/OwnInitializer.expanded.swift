// swift-format-ignore-file

struct User {
    var id: String
    var name: String

    init(from decoder: any Decoder) throws {
        fatalError()
    }

    init(id: String, name: String, greeting: String = "") {
        self.id = id
        self.name = name
    }
}
nonisolated struct UserRecord {
    typealias E = User

    static let databaseTableName = "users"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("name", String.self),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let name = StorageCore.StorageColumn<String>("name")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case name
        case updatedAt
    }

    var id: String
    var name: String
    var updatedAt: Foundation.Date

    init(id: String, name: String, updatedAt: Foundation.Date) {
        self.id = id
        self.name = name
        self.updatedAt = updatedAt
    }

    func asEntity() -> User {
        User(id: self.id, name: self.name)
    }

    static func from(_ entity: User, now: Foundation.Date) -> UserRecord {
        UserRecord(id: entity.id, name: entity.name, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.name, at: 2)
        try row.write(self.updatedAt, at: 3)
    }

    init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(String.self, at: 0)
        self.name = try row.read(String.self, at: 1)
        self.updatedAt = try row.read(Foundation.Date.self, at: 2)
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [User] {
        let row = rows.row
        var entities: [User] = []
        while try rows.next() {
            entities.append(User(id: try row.read(String.self, at: 0), name: try row.read(String.self, at: 1)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.name = try StorageLog._ColumnCoding.decode(String.self, from: row, "name")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.name, to: &container, "name")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension UserRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension User: StorageEntities.RegisteredEntity {
    typealias Record = UserRecord
}
