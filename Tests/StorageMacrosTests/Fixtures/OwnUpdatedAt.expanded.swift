// swift-format-ignore-file

struct User {
    var id: String
    var updatedAt: Date
    var name: String
}
nonisolated struct UserRecord {
    typealias E = User

    static let databaseTableName = "users"

    static var stampsUpdatedAt: Bool {
        false
    }

    static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("updatedAt", Date.self),
            StorageCore.ColumnSchema("name", String.self)
        ]
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let updatedAt = StorageCore.StorageColumn<Date>("updatedAt")
        let name = StorageCore.StorageColumn<String>("name")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case updatedAt
        case name
    }

    var id: String
    var updatedAt: Date
    var name: String

    init(id: String, updatedAt: Date, name: String) {
        self.id = id
        self.updatedAt = updatedAt
        self.name = name
    }

    func asEntity() -> User {
        User(id: self.id, updatedAt: self.updatedAt, name: self.name)
    }

    static func from(_ entity: User, now: Foundation.Date) -> UserRecord {
        UserRecord(id: entity.id, updatedAt: entity.updatedAt, name: entity.name)
    }

    func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.updatedAt, at: 2)
        try row.write(self.name, at: 3)
    }

    init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(String.self, at: 0)
        self.updatedAt = try row.read(Date.self, at: 1)
        self.name = try row.read(String.self, at: 2)
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [User] {
        let row = rows.row
        var entities: [User] = []
        while try rows.next() {
            entities.append(User(id: try row.read(String.self, at: 0), updatedAt: try row.read(Date.self, at: 1), name: try row.read(String.self, at: 2)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Date.self, from: row, "updatedAt")
        self.name = try StorageLog._ColumnCoding.decode(String.self, from: row, "name")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
        try StorageLog._ColumnCoding.encode(self.name, to: &container, "name")
    }
}

nonisolated extension UserRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension User: StorageEntities.RegisteredEntity {
    typealias Record = UserRecord
}
