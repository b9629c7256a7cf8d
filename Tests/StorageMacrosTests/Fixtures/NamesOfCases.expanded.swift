// swift-format-ignore-file

struct Odd {
    var id: String
    var RawValue: Int
    var hashValue: Int
    var `init`: Int
    var `Type`: Int
    var `Protocol`: Int
    var `default`, `two words`: Int
    var Columns: Int
    var ColumnName: Int
    var home: Address
    var lines: [Line]
}
nonisolated struct OddRecord {
    typealias E = Odd

    static let databaseTableName = "odds"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        var columns: [StorageCore.ColumnSchema] = [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("RawValue", Int.self),
            StorageCore.ColumnSchema("hashValue", Int.self),
            StorageCore.ColumnSchema("init", Int.self),
            StorageCore.ColumnSchema("Type", Int.self),
            StorageCore.ColumnSchema("Protocol", Int.self),
            StorageCore.ColumnSchema("default", Int.self),
            StorageCore.ColumnSchema("two words", Int.self),
            StorageCore.ColumnSchema("Columns", Int.self),
            StorageCore.ColumnSchema("ColumnName", Int.self)
        ]
        columns += StorageLog._StorageEmbedding.columns(Address.self, prefix: "home_")
        columns += [
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
        return columns
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let RawValue = StorageCore.StorageColumn<Int>("RawValue")
        let hashValue = StorageCore.StorageColumn<Int>("hashValue")
        let `init` = StorageCore.StorageColumn<Int>("init")
        let `Type` = StorageCore.StorageColumn<Int>("Type")
        let `Protocol` = StorageCore.StorageColumn<Int>("Protocol")
        let `default` = StorageCore.StorageColumn<Int>("default")
        let `two words` = StorageCore.StorageColumn<Int>("two words")
        let Columns = StorageCore.StorageColumn<Int>("Columns")
        let ColumnName = StorageCore.StorageColumn<Int>("ColumnName")
        let home = StorageLog._EmbeddedColumns<Address>(prefix: "home_")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case hashValue
        case `init` = "init"
        case `Type` = "Type"
        case `Protocol` = "Protocol"
        case `default` = "default"
        case `two words` = "two words"
        case Columns
        case ColumnName
        case updatedAt
    }

    static func foreignKey(of path: Swift.PartialKeyPath<Odd>) -> Swift.String? {
        if path == \Odd.lines {
            return "oddId"
        }
        return nil
    }

    var id: String
    var RawValue: Int
    var hashValue: Int
    var `init`: Int
    var `Type`: Int
    var `Protocol`: Int
    var `default`: Int
    var `two words`: Int
    var Columns: Int
    var ColumnName: Int
    var home: Address
    var updatedAt: Foundation.Date

    init(id: String, RawValue: Int, hashValue: Int, `init`: Int, `Type`: Int, `Protocol`: Int, `default`: Int, `two words`: Int, Columns: Int, ColumnName: Int, home: Address, updatedAt: Foundation.Date) {
        self.id = id
        self.RawValue = RawValue
        self.hashValue = hashValue
        self.`init` = `init`
        self.`Type` = `Type`
        self.`Protocol` = `Protocol`
        self.`default` = `default`
        self.`two words` = `two words`
        self.Columns = Columns
        self.ColumnName = ColumnName
        self.home = home
        self.updatedAt = updatedAt
    }

    func asEntity() -> Odd {
        Odd(id: self.id, RawValue: self.RawValue, hashValue: self.hashValue, init: self.`init`, Type: self.`Type`, Protocol: self.`Protocol`, default: self.`default`, `two words`: self.`two words`, Columns: self.Columns, ColumnName: self.ColumnName, home: self.home, lines: [])
    }

    static func from(_ entity: Odd, now: Foundation.Date) -> OddRecord {
        OddRecord(id: entity.id, RawValue: entity.RawValue, hashValue: entity.hashValue, init: entity.`init`, Type: entity.`Type`, Protocol: entity.`Protocol`, default: entity.`default`, `two words`: entity.`two words`, Columns: entity.Columns, ColumnName: entity.ColumnName, home: entity.home, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        var index: Swift.Int32 = 1
        try row.write(self.id, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.RawValue, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.hashValue, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.`init`, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.`Type`, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.`Protocol`, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.`default`, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.`two words`, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.Columns, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.ColumnName, at: StorageLog._StorageEmbedding.next(&index))
        try StorageLog._StorageEmbedding.write(self.home, to: row, at: &index)
        try row.write(self.updatedAt, at: StorageLog._StorageEmbedding.next(&index))
    }

    init(reading row: StorageLog.RowReader) throws {
        var index: Swift.Int32 = 0
        self.id = try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index))
        self.RawValue = try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index))
        self.hashValue = try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index))
        self.`init` = try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index))
        self.`Type` = try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index))
        self.`Protocol` = try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index))
        self.`default` = try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index))
        self.`two words` = try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index))
        self.Columns = try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index))
        self.ColumnName = try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index))
        self.home = try StorageLog._StorageEmbedding.read(Address.self, from: row, at: &index)
        self.updatedAt = try row.read(Foundation.Date.self, at: StorageLog._StorageEmbedding.next(&index))
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [Odd] {
        let row = rows.row
        var entities: [Odd] = []
        while try rows.next() {
            var index: Swift.Int32 = 0
            entities.append(Odd(id: try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index)), RawValue: try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index)), hashValue: try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index)), init: try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index)), Type: try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index)), Protocol: try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index)), default: try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index)), `two words`: try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index)), Columns: try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index)), ColumnName: try row.read(Int.self, at: StorageLog._StorageEmbedding.next(&index)), home: try StorageLog._StorageEmbedding.read(Address.self, from: row, at: &index), lines: []))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.RawValue = try StorageLog._ColumnCoding.decode(Int.self, from: row, "RawValue")
        self.hashValue = try StorageLog._ColumnCoding.decode(Int.self, from: row, "hashValue")
        self.`init` = try StorageLog._ColumnCoding.decode(Int.self, from: row, "init")
        self.`Type` = try StorageLog._ColumnCoding.decode(Int.self, from: row, "Type")
        self.`Protocol` = try StorageLog._ColumnCoding.decode(Int.self, from: row, "Protocol")
        self.`default` = try StorageLog._ColumnCoding.decode(Int.self, from: row, "default")
        self.`two words` = try StorageLog._ColumnCoding.decode(Int.self, from: row, "two words")
        self.Columns = try StorageLog._ColumnCoding.decode(Int.self, from: row, "Columns")
        self.ColumnName = try StorageLog._ColumnCoding.decode(Int.self, from: row, "ColumnName")
        self.home = try StorageLog._StorageEmbedding.decode(Address.self, from: row, prefix: "home_")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.RawValue, to: &container, "RawValue")
        try StorageLog._ColumnCoding.encode(self.hashValue, to: &container, "hashValue")
        try StorageLog._ColumnCoding.encode(self.`init`, to: &container, "init")
        try StorageLog._ColumnCoding.encode(self.`Type`, to: &container, "Type")
        try StorageLog._ColumnCoding.encode(self.`Protocol`, to: &container, "Protocol")
        try StorageLog._ColumnCoding.encode(self.`default`, to: &container, "default")
        try StorageLog._ColumnCoding.encode(self.`two words`, to: &container, "two words")
        try StorageLog._ColumnCoding.encode(self.Columns, to: &container, "Columns")
        try StorageLog._ColumnCoding.encode(self.ColumnName, to: &container, "ColumnName")
        try StorageLog._StorageEmbedding.encode(self.home, to: &container, prefix: "home_")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension OddRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Odd: StorageEntities.RegisteredEntity {
    typealias Record = OddRecord
}
