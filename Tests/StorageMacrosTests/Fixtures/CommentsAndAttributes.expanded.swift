// swift-format-ignore-file
// swift-format-ignore-file

/// A user.
@available(macOS 15, *)
// kept in one table
@frozen
public nonisolated struct User {
    /// The key.
    @Trimmed public var id: String  // never changes
    // A line of its own.
    public var name: /* as shown */ String /* not unique */ = "a" // with a default
}

@available(macOS 15, *)
public nonisolated struct UserRecord {
    public typealias E = User

    public static let databaseTableName = "users"

    public static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("name", String.self, default: "a"),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    public struct Columns: Swift.Sendable {
        public let id = StorageCore.StorageColumn<String>("id")
        public let name = StorageCore.StorageColumn<String>("name")
        public let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    public static let columns = Columns()

    public enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case name
        case updatedAt
    }

    public var id: String
    public var name: String
    public var updatedAt: Foundation.Date

    public init(id: String, name: String, updatedAt: Foundation.Date) {
        self.id = id
        self.name = name
        self.updatedAt = updatedAt
    }

    public func asEntity() -> User {
        User(id: self.id, name: self.name)
    }

    public static func from(_ entity: User, now: Foundation.Date) -> UserRecord {
        UserRecord(id: entity.id, name: entity.name, updatedAt: now)
    }

    public func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.name, at: 2)
        try row.write(self.updatedAt, at: 3)
    }

    public init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(String.self, at: 0)
        self.name = try row.read(String.self, at: 1)
        self.updatedAt = try row.read(Foundation.Date.self, at: 2)
    }

    public static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    public static func entities(reading rows: StorageLog.StatementRows) throws -> [User] {
        let row = rows.row
        var entities: [User] = []
        while try rows.next() {
            entities.append(User(id: try row.read(String.self, at: 0), name: try row.read(String.self, at: 1)))
        }
        return entities
    }

    public init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.name = try StorageLog._ColumnCoding.decode(String.self, from: row, "name")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    public func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.name, to: &container, "name")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

@available(macOS 15, *)
nonisolated extension UserRecord: StorageEntities.StorageKitEntityRecord {
}

@available(macOS 15, *)
nonisolated extension User: StorageEntities.RegisteredEntity {
    public typealias Record = UserRecord
}
