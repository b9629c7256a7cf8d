// swift-format-ignore-file

struct User {
    var id: String
    #if DEBUG
        static let sample = User(id: "1")
        var description: String { id }
        func log() {
            let text = id
            print(text)
        }
    #endif
}
nonisolated struct UserRecord {
    typealias E = User

    static let databaseTableName = "users"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case updatedAt
    }

    var id: String
    var updatedAt: Foundation.Date

    init(id: String, updatedAt: Foundation.Date) {
        self.id = id
        self.updatedAt = updatedAt
    }

    func asEntity() -> User {
        User(id: self.id)
    }

    static func from(_ entity: User, now: Foundation.Date) -> UserRecord {
        UserRecord(id: entity.id, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.updatedAt, at: 2)
    }

    init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(String.self, at: 0)
        self.updatedAt = try row.read(Foundation.Date.self, at: 1)
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [User] {
        let row = rows.row
        var entities: [User] = []
        while try rows.next() {
            entities.append(User(id: try row.read(String.self, at: 0)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension UserRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension User: StorageEntities.RegisteredEntity {
    typealias Record = UserRecord
}
