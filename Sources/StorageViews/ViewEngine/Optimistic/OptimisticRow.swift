package import Foundation
internal import GRDB
package import StorageCore
package import StorageEntities
internal import StorageRecords

/// One row as a pending change would leave it.
package struct OptimisticRow: Sendable {
    /// Which row it is.
    package struct Name: Hashable, Sendable {
        let table: String
        let key: StorageValue
    }

    package let name: Name
    let keyColumn: String
    let columns: [String]
    /// Fills a parameter for each of the columns; nil if the row is going to be deleted.
    let write: (@Sendable (RowWriter) throws -> Void)?

    /// The row that saving an entity makes.
    package init<Entity: RegisteredEntity>(saving entity: Entity, now: Date) {
        self.init(Entity.self, id: entity.id) { try Entity.Record.from(entity, now: now).write(to: $0) }
    }

    /// The row that deleting an entity would remove.
    package init<Entity: RegisteredEntity>(deleting type: Entity.Type, id: Entity.Id) {
        self.init(type, id: id, write: nil)
    }

    private init<Entity: RegisteredEntity>(
        _ type: Entity.Type, id: Entity.Id, write: (@Sendable (RowWriter) throws -> Void)?
    ) {
        let table = EntityTableCache.of(Entity.Record.self)
        name = Name(type, id: id)
        keyColumn = table.keyColumn
        columns = table.columns.map(\.name)
        self.write = write
    }
}

extension OptimisticRow.Name {
    /// The name of an entity's row.
    package init<Entity: RegisteredEntity>(_ type: Entity.Type, id: Entity.Id) {
        table = Entity.Record.databaseTableName
        key = Entity.Record.key(of: id)
    }
}
