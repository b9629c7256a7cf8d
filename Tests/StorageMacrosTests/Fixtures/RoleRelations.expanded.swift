// swift-format-ignore-file

public struct Post {
    public var id: Int
    public var authorId: String
    public var author: User?
}
public nonisolated struct PostRecord {
    public typealias E = Post

    public static let databaseTableName = "posts"

    public static var schemaColumns: [StorageCore.ColumnSchema] {
        [
            StorageCore.ColumnSchema("id", Int.self, primaryKey: true),
            StorageCore.ColumnSchema("authorId", String.self).referencing(User.Record.databaseTableName, onDelete: .setNull),
            StorageCore.ColumnSchema("updatedAt", Foundation.Date.self)
        ]
    }

    public struct Columns: Swift.Sendable {
        public let id = StorageCore.StorageColumn<Int>("id")
        public let authorId = StorageCore.StorageColumn<String>("authorId")
        public let updatedAt = StorageCore.StorageColumn<Foundation.Date>("updatedAt")
    }

    public static let columns = Columns()

    public enum ColumnName: Swift.String, Swift.Sendable {
        case id
        case authorId
        case updatedAt
    }

    public static func foreignKey(of path: Swift.PartialKeyPath<Post>) -> Swift.String? {
        if path == \Post.author {
            return "authorId"
        }
        return nil
    }

    public var id: Int
    public var authorId: String
    public var updatedAt: Foundation.Date

    public init(id: Int, authorId: String, updatedAt: Foundation.Date) {
        self.id = id
        self.authorId = authorId
        self.updatedAt = updatedAt
    }

    public func asEntity() -> Post {
        Post(id: self.id, authorId: self.authorId, author: nil)
    }

    public static func from(_ entity: Post, now: Foundation.Date) -> PostRecord {
        PostRecord(id: entity.id, authorId: entity.authorId, updatedAt: now)
    }

    public func write(to row: StorageLog.RowWriter) throws {
        try row.write(self.id, at: 1)
        try row.write(self.authorId, at: 2)
        try row.write(self.updatedAt, at: 3)
    }

    public init(reading row: StorageLog.RowReader) throws {
        self.id = try row.read(Int.self, at: 0)
        self.authorId = try row.read(String.self, at: 1)
        self.updatedAt = try row.read(Foundation.Date.self, at: 2)
    }

    public static func key(of id: Int) -> StorageCore.StorageValue {
        StorageLog._RowKey.value(of: id)
    }

    public static func entities(reading rows: StorageLog.StatementRows) throws -> [Post] {
        let row = rows.row
        var entities: [Post] = []
        while try rows.next() {
            entities.append(Post(id: try row.read(Int.self, at: 0), authorId: try row.read(String.self, at: 1), author: nil))
        }
        return entities
    }

    public init(row: GRDB.Row) throws {
        self.id = try StorageLog._ColumnCoding.decode(Int.self, from: row, "id")
        self.authorId = try StorageLog._ColumnCoding.decode(String.self, from: row, "authorId")
        self.updatedAt = try StorageLog._ColumnCoding.decode(Foundation.Date.self, from: row, "updatedAt")
    }

    public func encode(to container: inout GRDB.PersistenceContainer) throws {
        try StorageLog._ColumnCoding.encode(self.id, to: &container, "id")
        try StorageLog._ColumnCoding.encode(self.authorId, to: &container, "authorId")
        try StorageLog._ColumnCoding.encode(self.updatedAt, to: &container, "updatedAt")
    }
}

nonisolated extension PostRecord: StorageEntities.StorageKitEntityRecord {
}

nonisolated extension Post: StorageEntities.RegisteredEntity {
    public typealias Record = PostRecord
}
