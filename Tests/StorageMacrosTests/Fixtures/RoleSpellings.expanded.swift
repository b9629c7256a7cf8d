// swift-format-ignore-file

struct Node {
    var id: String
    var parentId: String?
    var ownerId: String
    var parent: Self?
    var owner: Optional<Owner>
    var updatedAt: Swift.Optional<Owner>
    var children: Array<Node>
    var place: Place!
    var other: Optional<Place>
    var tags: Optional<[String]>
    struct Owner { var id: String 
}
    nonisolated struct OwnerRecord {
        typealias E = Owner

        static let databaseTableName = "owners"

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

        func asEntity() -> Owner {
            Owner(id: self.id)
        }

        static func from(_ entity: Owner, now: Foundation.Date) -> OwnerRecord {
            OwnerRecord(id: entity.id, updatedAt: now)
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

        static func entities(reading rows: StorageLog.StatementRows) throws -> [Owner] {
            let row = rows.row
            var entities: [Owner] = []
            while try rows.next() {
                entities.append(Owner(id: try row.read(String.self, at: 0)))
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
}
nonisolated struct NodeRecord {
    typealias E = Node

    static let databaseTableName = "nodes"

    static var schemaColumns: [StorageCore.ColumnSchema] {
        var columns: [StorageCore.ColumnSchema] = [
            StorageCore.ColumnSchema("id", String.self, primaryKey: true),
            StorageCore.ColumnSchema("parentId", String?.self).referencing(Node.Record.databaseTableName, onDelete: .setNull),
            StorageCore.ColumnSchema("ownerId", String.self).referencing(Node.Owner.Record.databaseTableName, onDelete: .cascade)
        ]
        columns += StorageLog._StorageEmbedding.columns(Place?.self, prefix: "place_")
        columns += StorageLog._StorageEmbedding.columns(Place?.self, prefix: "other_")
        columns += [
            StorageLog._StorageJSON.column("tags", [String]?.self),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
        return columns
    }

    struct Columns: Swift.Sendable {
        let id = StorageCore.StorageColumn<String>("id")
        let parentId = StorageCore.StorageColumn<String?>("parentId")
        let ownerId = StorageCore.StorageColumn<String>("ownerId")
        let place = StorageLog._OptionalEmbeddedColumns<Place>(prefix: "place_")
        let other = StorageLog._OptionalEmbeddedColumns<Place>(prefix: "other_")
        let tags = StorageCore.StorageColumn<StorageLog.StoredJSON<[String]?>>("tags")
        let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    static let columns = Columns()

    enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case parentId
        case ownerId
        case tags
        case updatedAt
    }

    static func foreignKey(of path: Swift.PartialKeyPath<Node>) -> Swift.String? {
        if path == \Node.parent {
            return "parentId"
        }
        if path == \Node.owner {
            return "ownerId"
        }
        if path == \Node.updatedAt {
            return "ownerId"
        }
        if path == \Node.children {
            return "parentId"
        }
        return nil
    }

    var id: String
    var parentId: String?
    var ownerId: String
    var place: Place?
    var other: Place?
    var tags: [String]?
    var updatedAt: Foundation.Date

    init(id: String, parentId: String?, ownerId: String, place: Place?, other: Place?, tags: [String]?, updatedAt: Foundation.Date) {
        self.id = id
        self.parentId = parentId
        self.ownerId = ownerId
        self.place = place
        self.other = other
        self.tags = tags
        self.updatedAt = updatedAt
    }

    func asEntity() -> Node {
        Node(id: self.id, parentId: self.parentId, ownerId: self.ownerId, parent: nil, owner: nil, updatedAt: nil, children: [], place: self.place, other: self.other, tags: self.tags)
    }

    static func from(_ entity: Node, now: Foundation.Date) -> NodeRecord {
        NodeRecord(id: entity.id, parentId: entity.parentId, ownerId: entity.ownerId, place: entity.place, other: entity.other, tags: entity.tags, updatedAt: now)
    }

    func write(to row: StorageLog.RowWriter) throws {
        var index: Swift.Int32 = 1
        try row.write(self.id, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.parentId, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.ownerId, at: StorageLog._StorageEmbedding.next(&index))
        try StorageLog._StorageEmbedding.write(self.place, to: row, at: &index)
        try StorageLog._StorageEmbedding.write(self.other, to: row, at: &index)
        try StorageLog._StorageJSON.write(self.tags, to: row, at: StorageLog._StorageEmbedding.next(&index))
        try row.write(self.updatedAt, at: StorageLog._StorageEmbedding.next(&index))
    }

    init(reading row: StorageLog.RowReader) throws {
        var index: Swift.Int32 = 0
        self.id = try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index))
        self.parentId = try row.read(String?.self, at: StorageLog._StorageEmbedding.next(&index))
        self.ownerId = try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index))
        self.place = try StorageLog._StorageEmbedding.read(Place?.self, from: row, at: &index)
        self.other = try StorageLog._StorageEmbedding.read(Place?.self, from: row, at: &index)
        self.tags = try StorageLog._StorageJSON.read([String]?.self, from: row, at: StorageLog._StorageEmbedding.next(&index))
        self.updatedAt = try row.read(Foundation.Date.self, at: StorageLog._StorageEmbedding.next(&index))
    }

    static func key(of id: String) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    static func entities(reading rows: StorageLog.StatementRows) throws -> [Node] {
        let row = rows.row
        var entities: [Node] = []
        while try rows.next() {
            var index: Swift.Int32 = 0
            entities.append(Node(id: try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index)), parentId: try row.read(String?.self, at: StorageLog._StorageEmbedding.next(&index)), ownerId: try row.read(String.self, at: StorageLog._StorageEmbedding.next(&index)), parent: nil, owner: nil, updatedAt: nil, children: [], place: try StorageLog._StorageEmbedding.read(Place?.self, from: row, at: &index), other: try StorageLog._StorageEmbedding.read(Place?.self, from: row, at: &index), tags: try StorageLog._StorageJSON.read([String]?.self, from: row, at: StorageLog._StorageEmbedding.next(&index))))
        }
        return entities
    }

    init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(String.self, from: row, "id")
        self.parentId = try StorageLog._ColumnCoding.decode(String?.self, from: row, "parentId")
        self.ownerId = try StorageLog._ColumnCoding.decode(String.self, from: row, "ownerId")
        self.place = try StorageLog._StorageEmbedding.decode(Place?.self, from: row, prefix: "place_")
        self.other = try StorageLog._StorageEmbedding.decode(Place?.self, from: row, prefix: "other_")
        self.tags = try StorageLog._StorageJSON.decode([String]?.self, from: row, "tags")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.parentId, to: &container, "parentId")
        try StorageLog._ColumnCoding.encode(self.ownerId, to: &container, "ownerId")
        try StorageLog._StorageEmbedding.encode(self.place, to: &container, prefix: "place_")
        try StorageLog._StorageEmbedding.encode(self.other, to: &container, prefix: "other_")
        try StorageLog._StorageJSON.encode(self.tags, to: &container, "tags")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension OwnerRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Node.Owner: StorageEntities.RegisteredEntity {
    typealias Record = Node.OwnerRecord
}

nonisolated extension NodeRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Node: StorageEntities.RegisteredEntity {
    typealias Record = NodeRecord
}
