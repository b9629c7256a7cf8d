// swift-format-ignore-file

struct `Type` {
    var id: String
    var `class`: String
    var `let`: Int
    var `in`, `two words`: Int
}
nonisolated struct TypeRecord {
    typealias E = `Type`

    static let databaseTableName = "types"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("class", String.self),
            StorageCore.ColumnSchema("let", Int.self),
            StorageCore.ColumnSchema("in", Int.self),
            StorageCore.ColumnSchema("two words", Int.self),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let `class` = StorageCore.StorageColumn<String>("class")
        let `let` = StorageCore.StorageColumn<Int>("let")
        let `in` = StorageCore.StorageColumn<Int>("in")
        let `two words` = StorageCore.StorageColumn<Int>("two words")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case `class` = "class"
        case `let` = "let"
        case `in` = "in"
        case `two words` = "two words"
        case updatedAt
    }

    var id: String
    var `class`: String
    var `let`: Int
    var `in`: Int
    var `two words`: Int
    var updatedAt: Foundation.Date

    init(id: String, `class`: String, `let`: Int, `in`: Int, `two words`: Int, updatedAt: Foundation.Date) {
        self.id = id
        self.`class` = `class`
        self.`let` = `let`
        self.`in` = `in`
        self.`two words` = `two words`
        self.updatedAt = updatedAt
    }

    func asEntity() -> `Type` {
        `Type`(id: self.id, class: self.`class`, `let`: self.`let`, in: self.`in`, `two words`: self.`two words`)
    }

    static func from(_ entity: `Type`, now: Foundation.Date) -> TypeRecord {
        TypeRecord(id: entity.id, class: entity.`class`, `let`: entity.`let`, in: entity.`in`, `two words`: entity.`two words`, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.`class`, at: 2)
        try row.write(self.`let`, at: 3)
        try row.write(self.`in`, at: 4)
        try row.write(self.`two words`, at: 5)
        try row.write(self.updatedAt, at: 6)
    }

    init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(String.self, at: 0)
        self.`class` = try row.read(String.self, at: 1)
        self.`let` = try row.read(Int.self, at: 2)
        self.`in` = try row.read(Int.self, at: 3)
        self.`two words` = try row.read(Int.self, at: 4)
        self.updatedAt = try row.read(Foundation.Date.self, at: 5)
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [`Type`] {
        let row = rows.row
        var entities: [`Type`] = []
        while try rows.next() {
            entities.append(`Type`(id: try row.read(String.self, at: 0), class: try row.read(String.self, at: 1), `let`: try row.read(Int.self, at: 2), in: try row.read(Int.self, at: 3), `two words`: try row.read(Int.self, at: 4)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.`class` = try StorageLog._ColumnCoding.decode(String.self, from: row, "class")
        self.`let` = try StorageLog._ColumnCoding.decode(Int.self, from: row, "let")
        self.`in` = try StorageLog._ColumnCoding.decode(Int.self, from: row, "in")
        self.`two words` = try StorageLog._ColumnCoding.decode(Int.self, from: row, "two words")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.`class`, to: &container, "class")
        try StorageLog._ColumnCoding.encode(self.`let`, to: &container, "let")
        try StorageLog._ColumnCoding.encode(self.`in`, to: &container, "in")
        try StorageLog._ColumnCoding.encode(self.`two words`, to: &container, "two words")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension TypeRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension `Type`: StorageEntities.RegisteredEntity {
    typealias Record = TypeRecord
}
