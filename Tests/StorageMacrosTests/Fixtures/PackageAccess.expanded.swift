// swift-format-ignore-file

package struct User {
    package var id: String
    public var name: String
}
package nonisolated struct UserRecord {
    package typealias E = User

    package static let databaseTableName = "users"

    package static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("name", String.self),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    package struct Columns: Swift.Sendable {
        package let id = StorageCore.StorageColumn<String>("id")
        package let name = StorageCore.StorageColumn<String>("name")
        package let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    package static let columns = Columns()

    package enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case name
        case updatedAt
    }

    package var id: String
    package var name: String
    package var updatedAt: Foundation.Date

    package init(id: String, name: String, updatedAt: Foundation.Date) {
        self.id = id
        self.name = name
        self.updatedAt = updatedAt
    }

    package func asEntity() -> User {
        User(id: self.id, name: self.name)
    }

    package static func from(_ entity: User, now: Foundation.Date) -> UserRecord {
        UserRecord(id: entity.id, name: entity.name, updatedAt: now)
    }

    package func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.name, at: 2)
        try row.write(self.updatedAt, at: 3)
    }

    package init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(String.self, at: 0)
        self.name = try row.read(String.self, at: 1)
        self.updatedAt = try row.read(Foundation.Date.self, at: 2)
    }

    package static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    package static func entities(reading rows: StorageLog.StatementRows) throws -> [User] {
        let row = rows.row
        var entities: [User] = []
        while try rows.next() {
            entities.append(User(id: try row.read(String.self, at: 0), name: try row.read(String.self, at: 1)))
        }
        return entities
    }

    package init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.name = try StorageLog._ColumnCoding.decode(String.self, from: row, "name")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    package func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.name, to: &container, "name")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension UserRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension User: StorageEntities.RegisteredEntity {
    package typealias Record = UserRecord
}
