// swift-format-ignore-file

struct Trip {
    var id: String
    var place: Place
    var time: Span
}
nonisolated struct TripRecord {
    typealias E = Trip

    static let databaseTableName = "trips"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        var columns: [StorageCore.ColumnSchema] = [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true)
        ]
        columns += StorageLog._StorageEmbedding.columns(Place.self, prefix: "at_")
        columns += StorageLog._StorageEmbedding.columns(Span.self, prefix: "at_")
        columns += [
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
        return columns
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let place = StorageLog._EmbeddedColumns<Place>(prefix: "at_")
        let time = StorageLog._EmbeddedColumns<Span>(prefix: "at_")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case updatedAt
    }

    var id: String
    var place: Place
    var time: Span
    var updatedAt: Foundation.Date

    init(id: String, place: Place, time: Span, updatedAt: Foundation.Date) {
        self.id = id
        self.place = place
        self.time = time
        self.updatedAt = updatedAt
    }

    func asEntity() -> Trip {
        Trip(id: self.id, place: self.place, time: self.time)
    }

    static func from(_ entity: Trip, now: Foundation.Date) -> TripRecord {
        TripRecord(id: entity.id, place: entity.place, time: entity.time, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        var index: Swift.Int32 = 1
        try row.write(self.id, at: StorageLog._StorageEmbedding.next(&index))
        try StorageLog._StorageEmbedding.write(self.place, to: row, at: &index)
        try StorageLog._StorageEmbedding.write(self.time, to: row, at: &index)
        try row.write(self.updatedAt, at: StorageLog._StorageEmbedding.next(&index))
    }

    init(reading row: StorageLog.RowReader) throws {
        var index: Swift.Int32 = 0
        self.id = try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index))
        self.place = try StorageLog._StorageEmbedding.read(Place.self, from: row, at: &index)
        self.time = try StorageLog._StorageEmbedding.read(Span.self, from: row, at: &index)
        self.updatedAt = try row.read(Foundation.Date.self, at: StorageLog._StorageEmbedding.next(&index))
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [Trip] {
        let row = rows.row
        var entities: [Trip] = []
        while try rows.next() {
            var index: Swift.Int32 = 0
            entities.append(Trip(id: try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index)), place: try StorageLog._StorageEmbedding.read(Place.self, from: row, at: &index), time: try StorageLog._StorageEmbedding.read(Span.self, from: row, at: &index)))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.place = try StorageLog._StorageEmbedding.decode(Place.self, from: row, prefix: "at_")
        self.time = try StorageLog._StorageEmbedding.decode(Span.self, from: row, prefix: "at_")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._StorageEmbedding.encode(self.place, to: &container, prefix: "at_")
        try StorageLog._StorageEmbedding.encode(self.time, to: &container, prefix: "at_")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension TripRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Trip: StorageEntities.RegisteredEntity {
    typealias Record = TripRecord
}
