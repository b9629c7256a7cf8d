// swift-format-ignore-file

struct User {
    var id: String
    var name: String = "nobody"
    var tries: Int = -3
    var role: Role = .guest
    var token: String = UUID().uuidString
    var settings: [String: Int]  // trailing
    var home: Address = Address(city: "Kyiv")
    var work: Address? = Address(city: "Lviv")
    var posts: [Post]
    var teamId: String?
    var team: Team?
    var owner: Owner?
}
nonisolated struct UserRecord {
    typealias E = User

    static let databaseTableName = "users"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        var columns: [StorageCore.ColumnSchema] = [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("name", String.self, default: "nobody").referencing(Owner.Record.databaseTableName, onDelete: .cascade),
            StorageCore.ColumnSchema("tries", Int.self, default: -3),
            StorageCore.ColumnSchema("role", Role.self, default: .guest),
            StorageCore.ColumnSchema("token", String.self).withoutNeutralValue(),
            StorageLog._StorageJSON.column("settings", [String: Int].self)
        ]
        columns += StorageLog._StorageEmbedding.columns(Address.self, prefix: "home_", hasInitialValue: true)
        columns += StorageLog._StorageEmbedding.columns(Address?.self, prefix: "work_")
        columns += [
            StorageCore.ColumnSchema("teamId", String?.self),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
        return columns
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let name = StorageCore.StorageColumn<String>("name")
        let tries = StorageCore.StorageColumn<Int>("tries")
        let role = StorageCore.StorageColumn<Role>("role")
        let token = StorageCore.StorageColumn<String>("token")
        let settings = StorageCore.StorageColumn<StorageLog.StoredJSON<[String: Int]>>("settings")
        let home = StorageLog._EmbeddedColumns<Address>(prefix: "home_")
        let work = StorageLog._OptionalEmbeddedColumns<Address>(prefix: "work_")
        let teamId = StorageCore.StorageColumn<String?>("teamId")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case name
        case tries
        case role
        case token
        case settings
        case teamId
        case updatedAt
    }

    static func foreignKey(of path: Swift.PartialKeyPath<User>) -> Swift.String? {
        if path == \User.posts {
            return "authorId"
        }
        if path == \User.team {
            return "teamId"
        }
        if path == \User.owner {
            return "name"
        }
        return nil
    }

    var id: String
    var name: String
    var tries: Int
    var role: Role
    var token: String
    var settings: [String: Int]
    var home: Address
    var work: Address?
    var teamId: String?
    var updatedAt: Foundation.Date

    init(id: String, name: String, tries: Int, role: Role, token: String, settings: [String: Int], home: Address, work: Address?, teamId: String?, updatedAt: Foundation.Date) {
        self.id = id
        self.name = name
        self.tries = tries
        self.role = role
        self.token = token
        self.settings = settings
        self.home = home
        self.work = work
        self.teamId = teamId
        self.updatedAt = updatedAt
    }

    func asEntity() -> User {
        User(id: self.id, name: self.name, tries: self.tries, role: self.role, token: self.token, settings: self.settings, home: self.home, work: self.work, posts: [], teamId: self.teamId, team: nil, owner: nil)
    }

    static func from(_ entity: User, now: Foundation.Date) -> UserRecord {
        UserRecord(id: entity.id, name: entity.name, tries: entity.tries, role: entity.role, token: entity.token, settings: entity.settings, home: entity.home, work: entity.work, teamId: entity.teamId, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        var index: Swift.Int32 = 1
        try row.write(self.id, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.name, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.tries, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.role, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.token, at: StorageLog._StorageEmbedding.next(&index))
        try StorageLog._StorageJSON.write(self.settings, to: row, at: StorageLog._StorageEmbedding.next(&index))
        try StorageLog._StorageEmbedding.write(self.home, to: row, at: &index)
        try StorageLog._StorageEmbedding.write(self.work, to: row, at: &index)
        try row.write(self.teamId, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.updatedAt, at: StorageLog._StorageEmbedding.next(&index))
    }

    init(reading row: StorageLog.RowReader) throws {
        var index: Swift.Int32 = 0
        self.id = try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index))
        self.name = try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index))
        self.tries = try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index))
        self.role = try row.read(Role.self, at: StorageLog._StorageEmbedding.next(&index))
        self.token = try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index))
        self.settings = try StorageLog._StorageJSON.read([String: Int].self, from: row, at: StorageLog._StorageEmbedding.next(&index))
        self.home = try StorageLog._StorageEmbedding.read(Address.self, from: row, at: &index)
        self.work = try StorageLog._StorageEmbedding.read(Address?.self, from: row, at: &index)
        self.teamId = try row.read(String?.self, at: StorageLog._StorageEmbedding.next(&index))
        self.updatedAt = try row.read(Foundation.Date.self, at: StorageLog._StorageEmbedding.next(&index))
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [User] {
        let row = rows.row
        var entities: [User] = []
        while try rows.next() {
            var index: Swift.Int32 = 0
            entities.append(User(id: try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index)), name: try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index)), tries: try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index)), role: try row.read(Role.self, at: StorageLog._StorageEmbedding.next(&index)), token: try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index)), settings: try StorageLog._StorageJSON.read([String: Int].self, from: row, at: StorageLog._StorageEmbedding.next(&index)), home: try StorageLog._StorageEmbedding.read(Address.self, from: row, at: &index), work: try StorageLog._StorageEmbedding.read(Address?.self, from: row, at: &index), posts: [], teamId: try row.read(String?.self, at: StorageLog._StorageEmbedding.next(&index)), team: nil, owner: nil))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.name = try StorageLog._ColumnCoding.decode(String.self, from: row, "name")
        self.tries = try StorageLog._ColumnCoding.decode(Int.self, from: row, "tries")
        self.role = try StorageLog._ColumnCoding.decode(Role.self, from: row, "role")
        self.token = try StorageLog._ColumnCoding.decode(String.self, from: row, "token")
        self.settings = try StorageLog._StorageJSON.decode([String: Int].self, from: row, "settings")
        self.home = try StorageLog._StorageEmbedding.decode(Address.self, from: row, prefix: "home_")
        self.work = try StorageLog._StorageEmbedding.decode(Address?.self, from: row, prefix: "work_")
        self.teamId = try StorageLog._ColumnCoding.decode(String?.self, from: row, "teamId")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.name, to: &container, "name")
        try StorageLog._ColumnCoding.encode(self.tries, to: &container, "tries")
        try StorageLog._ColumnCoding.encode(self.role, to: &container, "role")
        try StorageLog._ColumnCoding.encode(self.token, to: &container, "token")
        try StorageLog._StorageJSON.encode(self.settings, to: &container, "settings")
        try StorageLog._StorageEmbedding.encode(self.home, to: &container, prefix: "home_")
        try StorageLog._StorageEmbedding.encode(self.work, to: &container, prefix: "work_")
        try StorageLog._ColumnCoding.encode(self.teamId, to: &container, "teamId")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension UserRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension User: StorageEntities.RegisteredEntity {
    typealias Record = UserRecord
}
