internal import StorageCore
internal import StorageEntities
internal import StorageLog

/// An entity, and what its related rows are found by: a value for each relation.
struct OwnerRow<Entity: RegisteredEntity>: Sendable {
    let entity: Entity
    let values: [StorageValue]
}

extension RowForm {
    /// Entities, and the values of columns.
    ///
    /// - Throws: `invalid-name` for a column that isn't there.
    static func owner<Entity>(reading columns: [String]) throws -> RowForm where Item == OwnerRow<Entity> {
        let table = EntityTables.of(Entity.Record.self).queryTable
        let indices = try columns.map { Int32(try table.index(of: $0)) }
        return RowForm(table: table, isShared: false) { row in
            OwnerRow(
                entity: try Entity.Record(reading: row).asEntity(), values: indices.map { row.value(at: $0) })
        }
    }
}
