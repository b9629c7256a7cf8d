// swift-format-ignore-file

struct User {
    var id: Key
    var role: Role
    var past: Box<Role>?
    var mood: Self.Mood?
    var other: Company.Role

    struct Key: RawRepresentable, Hashable, Codable {
        var rawValue: String
    }
    enum Role: String, Codable {
        case admin, guest
    }
    typealias Mood = Company.Mood
}
nonisolated struct UserRecord {
    typealias E = User

    static let databaseTableName = "users"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", User.Key.self, primaryKey: true),
            StorageCore.ColumnSchema("role", User.Role.self),
            StorageCore.ColumnSchema("past", Box<User.Role>?.self),
            StorageCore.ColumnSchema("mood", User.Mood?.self),
            StorageCore.ColumnSchema("other", Company.Role.self),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<User.Key>("id")
        let role = StorageCore.StorageColumn<User.Role>("role")
        let past = StorageCore.StorageColumn<Box<User.Role>?>("past")
        let mood = StorageCore.StorageColumn<User.Mood?>("mood")
        let other = StorageCore.StorageColumn<Company.Role>("other")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case role
        case past
        case mood
        case other
        case updatedAt
    }

    var id: User.Key
    var role: User.Role
    var past: Box<User.Role>?
    var mood: User.Mood?
    var other: Company.Role
    var updatedAt: Foundation.Date

    init(id: User.Key, role: User.Role, past: Box<User.Role>?, mood: User.Mood?, other: Company.Role, updatedAt: Foundation.Date) {
        self.id = id
        self.role = role
        self.past = past
        self.mood = mood
        self.other = other
        self.updatedAt = updatedAt
    }

    func asEntity() -> User {
        User(id: self.id, role: self.role, past: self.past, mood: self.mood, other: self.other)
    }

    static func from(_ entity: User, now: Foundation.Date) -> UserRecord {
        UserRecord(id: entity.id, role: entity.role, past: entity.past, mood: entity.mood, other: entity.other, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.role, at: 2)
        try row.write(self.past, at: 3)
        try row.write(self.mood, at: 4)
        try row.write(self.other, at: 5)
        try row.write(self.updatedAt, at: 6)
    }

    init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(User.Key.self, at: 0)
        self.role = try row.read(User.Role.self, at: 1)
        self.past = try row.read(Box<User.Role>?.self, at: 2)
        self.mood = try row.read(User.Mood?.self, at: 3)
        self.other = try row.read(Company.Role.self, at: 4)
        self.updatedAt = try row.read(Foundation.Date.self, at: 5)
    }

    static func key(of id: User.Key) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [User] {
        let row = rows.row
        var entities: [User] = []
        while try rows.next() {
            entities.append(User(id: try row.read(User.Key.self, at: 0), role: try row.read(User.Role.self, at: 1), past: try row.read(Box<User.Role>?.self, at: 2), mood: try row.read(User.Mood?.self, at: 3), other: try row.read(Company.Role.self, at: 4)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(User.Key.self, from: row, "id")
        self.role = try StorageLog._ColumnCoding.decode(User.Role.self, from: row, "role")
        self.past = try StorageLog._ColumnCoding.decode(Box<User.Role>?.self, from: row, "past")
        self.mood = try StorageLog._ColumnCoding.decode(User.Mood?.self, from: row, "mood")
        self.other = try StorageLog._ColumnCoding.decode(Company.Role.self, from: row, "other")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.role, to: &container, "role")
        try StorageLog._ColumnCoding.encode(self.past, to: &container, "past")
        try StorageLog._ColumnCoding.encode(self.mood, to: &container, "mood")
        try StorageLog._ColumnCoding.encode(self.other, to: &container, "other")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension UserRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension User: StorageEntities.RegisteredEntity {
    typealias Record = UserRecord
}
