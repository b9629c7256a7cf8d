// swift-format-ignore-file

public struct User {
    public let id: UUID
    public private(set) var name: String
    var note: String
    fileprivate var secret: String
}
public nonisolated struct UserRecord {
    public typealias E = User

    public static let databaseTableName = "users"

    public static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", UUID.self, primaryKey: true),
            StorageCore.ColumnSchema("name", String.self),
            StorageCore.ColumnSchema("note", String.self),
            StorageCore.ColumnSchema("secret", String.self),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    public struct Columns: Swift.Sendable {
        public let id = StorageCore.StorageColumn<UUID>("id")
        public let name = StorageCore.StorageColumn<String>("name")
        let note = StorageCore.StorageColumn<String>("note")
        fileprivate let secret = StorageCore.StorageColumn<String>("secret")
        public let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    public static let columns = Columns()

    public enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case name
        case note
        case secret
        case updatedAt
    }

    public var id: UUID
    public var name: String
    var note: String
    fileprivate var secret: String
    public var updatedAt: Foundation.Date

    fileprivate init(id: UUID, name: String, note: String, secret: String, updatedAt: Foundation.Date) {
        self.id = id
        self.name = name
        self.note = note
        self.secret = secret
        self.updatedAt = updatedAt
    }

    public func asEntity() -> User {
        User(id: self.id, name: self.name, note: self.note, secret: self.secret)
    }

    public static func from(_ entity: User, now: Foundation.Date) -> UserRecord {
        UserRecord(id: entity.id, name: entity.name, note: entity.note, secret: entity.secret, updatedAt: now)
    }

    public func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.name, at: 2)
        try row.write(self.note, at: 3)
        try row.write(self.secret, at: 4)
        try row.write(self.updatedAt, at: 5)
    }

    public init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(UUID.self, at: 0)
        self.name = try row.read(String.self, at: 1)
        self.note = try row.read(String.self, at: 2)
        self.secret = try row.read(String.self, at: 3)
        self.updatedAt = try row.read(Foundation.Date.self, at: 4)
    }

    public static func key(of id: UUID) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    public static func entities(reading rows: StorageLog.StatementRows) throws -> [User] {
        let row = rows.row
        var entities: [User] = []
        while try rows.next() {
            entities.append(User(id: try row.read(UUID.self, at: 0), name: try row.read(String.self, at: 1), note: try row.read(String.self, at: 2), secret: try row.read(String.self, at: 3)))
        }
        return entities
    }

    public init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(UUID.self, from: row, "id")
        self.name = try StorageLog._ColumnCoding.decode(String.self, from: row, "name")
        self.note = try StorageLog._ColumnCoding.decode(String.self, from: row, "note")
        self.secret = try StorageLog._ColumnCoding.decode(String.self, from: row, "secret")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    public func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.name, to: &container, "name")
        try StorageLog._ColumnCoding.encode(self.note, to: &container, "note")
        try StorageLog._ColumnCoding.encode(self.secret, to: &container, "secret")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension UserRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension User: StorageEntities.RegisteredEntity {
    public typealias Record = UserRecord
}
