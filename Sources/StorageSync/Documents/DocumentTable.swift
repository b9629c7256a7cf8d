internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageEntities
internal import StorageHistory
internal import StorageKit
internal import StorageLog

/// Where an engine keeps its documents: the table of their entity, or rows of JSON in a shared table for all other
/// types.
struct DocumentTable<T: DataSyncModelProtocol>: Sendable {
    /// The entity's name in the log.
    let entity: String
    /// Whether the table contains documents of this engine only.
    let isOwn: Bool
    /// Creates the table if it is missing, as part of the current commit.
    let declare: @Sendable (LogWriter) throws -> Void
    /// The document id for a row's key; nil if the row isn't one of the engine's.
    let id: @Sendable (_ key: [StorageEvent.Field]) -> String?
    let save: @Sendable (T, WriteTransaction) throws -> Void
    let delete: @Sendable (_ id: String, WriteTransaction) throws -> Void
    let get: @Sendable (_ id: String, Database) throws -> T?
    /// Whether there is a document, readable or not.
    let contains: @Sendable (_ id: String, Database) throws -> Bool
    /// All documents, by id.
    let all: @Sendable (Database) throws -> [T]
    /// The ids of all documents, in order, each with the position of its last event.
    let positions: @Sendable (Database) throws -> [(id: String, position: Int64)]
    /// Decodes a historical row in the current schema: columns have their current names and converted values.
    let document: @Sendable (_ id: String, RowImage, Catalog, Connection, [String: Upcast]) throws -> T

    /// - Parameter manager: The engine's key.
    static func of(manager: String) -> DocumentTable {
        if let type = T.self as? any RegisteredEntity.Type { entityTable(type) } else { jsonTable(manager) }
    }
}

// MARK: Entities

extension DocumentTable {
    private static func entityTable<E: RegisteredEntity>(_ type: E.Type) -> DocumentTable {
        let table = EntityTableCache.of(E.Record.self)
        let name = quoted(table.name)
        let key = quoted(table.keyColumn)
        return DocumentTable(
            entity: table.name, isOwn: true,
            declare: { try $0.declare(EntityDefinition(E.Record.self)) },
            id: DocumentKey.ofEntity,
            save: { try $1.save(cast($0, to: E.self)) },
            delete: { try table.delete(.text($0), with: $1.writer) },
            get: { id, db in
                try table.entity(.text(id), in: db).map { try cast($0, to: T.self) }
            },
            contains: { id, db in
                let sql = "SELECT EXISTS (SELECT 1 FROM \(name) WHERE \(key) = ?)"
                return try Bool.fetchOne(db.cachedStatement(sql: sql), arguments: [id]) ?? false
            },
            all: { db in
                try table.all(orderBy: nil, ascending: true, in: db).map { try cast($0, to: T.self) }
            },
            positions: { db in
                try Row.fetchAll(db, sql: "SELECT \(key), _position FROM \(name) ORDER BY \(key)").map {
                    ($0[0], $0[1])
                }
            },
            document: { id, image, catalog, connection, upcasts in
                let rows = try HistoricalRows<E.Record>(connection, catalog: catalog, upcasts: upcasts)
                guard let entity = catalog.entity(named: table.name) else { throw StorageError.noDocument(id) }
                let row = try rows.row([.text(id)], of: entity) { image.cells[$0]?.value }
                return try cast(rows.entity(row), to: T.self)
            })
    }

    /// Converts between an entity and the identical document type.
    private static func cast<From, To>(_ value: From, to type: To.Type) throws -> To {
        guard let value = value as? To else {
            throw StorageError(.invalidArgument, "\(From.self) isn't \(To.self).", remedy: "Report this as a defect.")
        }
        return value
    }
}

// MARK: JSON

extension DocumentTable {
    private static func jsonTable(_ manager: String) -> DocumentTable {
        let name = DocumentKey.jsonTable
        let body = "document"
        return DocumentTable(
            entity: name, isOwn: false,
            declare: { writer in
                let columns = [
                    ColumnSchema(name: "manager", type: String.columnType, notNull: true, primaryKey: true),
                    ColumnSchema(name: "id", type: String.columnType, notNull: true, primaryKey: true),
                    ColumnSchema(name: body, type: String.columnType, notNull: true),
                ]
                try writer.declare(EntityDefinition(name: name, columns: columns.map { .init($0) }))
            },
            id: DocumentKey.ofJSON(manager),
            save: { document, tx in
                let statement = try tx.writer.statement(
                    """
                    INSERT INTO \(name)(manager, id, \(body), _position) VALUES (?1, ?2, ?3, ?4)
                    ON CONFLICT(manager, id) DO UPDATE SET \(body) = excluded.\(body), _position = excluded._position
                    WHERE \(body) IS NOT excluded.\(body)
                    """)
                statement.bind(text: manager, at: 1)
                statement.bind(text: document.id, at: 2)
                try statement.writer.bind(_StorageJSON.stored(document), at: 3)
                statement.bind(tx.writer.nextPosition, at: 4)
                try statement.execute()
            },
            delete: { id, tx in
                let statement = try tx.writer.statement("DELETE FROM \(name) WHERE manager = ?1 AND id = ?2")
                statement.bind(text: manager, at: 1)
                statement.bind(text: id, at: 2)
                try statement.execute()
            },
            get: { id, db in
                let sql = "SELECT \(body) FROM \(name) WHERE manager = ? AND id = ?"
                return try String.fetchOne(db, sql: sql, arguments: [manager, id]).map(document(json:))
            },
            contains: { id, db in
                let sql = "SELECT EXISTS (SELECT 1 FROM \(name) WHERE manager = ? AND id = ?)"
                return try Bool.fetchOne(db.cachedStatement(sql: sql), arguments: [manager, id]) ?? false
            },
            all: { db in
                let sql = "SELECT \(body) FROM \(name) WHERE manager = ? ORDER BY id"
                return try String.fetchAll(db, sql: sql, arguments: [manager]).map(document(json:))
            },
            positions: { db in
                let sql = "SELECT id, _position FROM \(name) WHERE manager = ? ORDER BY id"
                return try Row.fetchAll(db, sql: sql, arguments: [manager]).map { ($0[0], $0[1]) }
            },
            document: { _, image, catalog, _, _ in
                let column = catalog.entity(named: name)?.column(named: body)
                let value = column.map { image.value(of: $0).value } ?? .null
                return try _StorageJSON.value(T.self, of: value)
            })
    }

    private static func document(json: String) throws -> T { try _StorageJSON.value(T.self, of: .text(json)) }
}
