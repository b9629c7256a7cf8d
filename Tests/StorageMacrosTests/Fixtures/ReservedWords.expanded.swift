// swift-format-ignore-file

struct Row {
    var id: String
    var row: String
    var entity: String
    var now: Int
    var container: String
    var databaseTableName: String
}
nonisolated struct RowRecord {
    typealias E = Row

    static let databaseTableName = "rows"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("row", String.self),
            StorageCore.ColumnSchema("entity", String.self),
            StorageCore.ColumnSchema("now", Int.self),
            StorageCore.ColumnSchema("container", String.self),
            StorageCore.ColumnSchema("databaseTableName", String.self),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let row = StorageCore.StorageColumn<String>("row")
        let entity = StorageCore.StorageColumn<String>("entity")
        let now = StorageCore.StorageColumn<Int>("now")
        let container = StorageCore.StorageColumn<String>("container")
        let databaseTableName = StorageCore.StorageColumn<String>("databaseTableName")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case row
        case entity
        case now
        case container
        case databaseTableName
        case updatedAt
    }

    var id: String
    var row: String
    var entity: String
    var now: Int
    var container: String
    var databaseTableName: String
    var updatedAt: Foundation.Date

    init(id: String, row: String, entity: String, now: Int, container: String, databaseTableName: String, updatedAt: Foundation.Date) {
        self.id = id
        self.row = row
        self.entity = entity
        self.now = now
        self.container = container
        self.databaseTableName = databaseTableName
        self.updatedAt = updatedAt
    }

    func asEntity() -> Row {
        Row(id: self.id, row: self.row, entity: self.entity, now: self.now, container: self.container, databaseTableName: self.databaseTableName)
    }

    static func from(_ entity: Row, now: Foundation.Date) -> RowRecord {
        RowRecord(id: entity.id, row: entity.row, entity: entity.entity, now: entity.now, container: entity.container, databaseTableName: entity.databaseTableName, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.row, at: 2)
        try row.write(self.entity, at: 3)
        try row.write(self.now, at: 4)
        try row.write(self.container, at: 5)
        try row.write(self.databaseTableName, at: 6)
        try row.write(self.updatedAt, at: 7)
    }

    init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(String.self, at: 0)
        self.row = try row.read(String.self, at: 1)
        self.entity = try row.read(String.self, at: 2)
        self.now = try row.read(Int.self, at: 3)
        self.container = try row.read(String.self, at: 4)
        self.databaseTableName = try row.read(String.self, at: 5)
        self.updatedAt = try row.read(Foundation.Date.self, at: 6)
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [Row] {
        let row = rows.row
        var entities: [Row] = []
        while try rows.next() {
            entities.append(Row(id: try row.read(String.self, at: 0), row: try row.read(String.self, at: 1), entity: try row.read(String.self, at: 2), now: try row.read(Int.self, at: 3), container: try row.read(String.self, at: 4), databaseTableName: try row.read(String.self, at: 5)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.row = try StorageLog._ColumnCoding.decode(String.self, from: row, "row")
        self.entity = try StorageLog._ColumnCoding.decode(String.self, from: row, "entity")
        self.now = try StorageLog._ColumnCoding.decode(Int.self, from: row, "now")
        self.container = try StorageLog._ColumnCoding.decode(String.self, from: row, "container")
        self.databaseTableName = try StorageLog._ColumnCoding.decode(String.self, from: row, "databaseTableName")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.row, to: &container, "row")
        try StorageLog._ColumnCoding.encode(self.entity, to: &container, "entity")
        try StorageLog._ColumnCoding.encode(self.now, to: &container, "now")
        try StorageLog._ColumnCoding.encode(self.container, to: &container, "container")
        try StorageLog._ColumnCoding.encode(self.databaseTableName, to: &container, "databaseTableName")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension RowRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Row: StorageEntities.RegisteredEntity {
    typealias Record = RowRecord
}
