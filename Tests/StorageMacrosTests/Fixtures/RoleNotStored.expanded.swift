// swift-format-ignore-file

struct A {
    var id: String
    var computed: Int { 1 }
    static var shared: Int = 1
    func none() {}
}
nonisolated struct ARecord {
    typealias E = A

    static let databaseTableName = "as"

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

    func asEntity() -> A {
        A(id: self.id)
    }

    static func from(_ entity: A, now: Foundation.Date) -> ARecord {
        ARecord(id: entity.id, updatedAt: now)
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

    static func entities(reading rows: StorageLog.StatementRows) throws -> [A] {
        let row = rows.row
        var entities: [A] = []
        while try rows.next() {
            entities.append(A(id: try row.read(String.self, at: 0)))
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

nonisolated extension ARecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension A: StorageEntities.RegisteredEntity {
    typealias Record = ARecord
}
