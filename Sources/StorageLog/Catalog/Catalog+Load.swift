internal import CSQLite
internal import StorageCore

extension Catalog {
    /// Reads the catalog of an open store.
    package static func load(_ database: OpaquePointer) throws -> Catalog {
        let select = try Statement(
            database,
            """
            SELECT id, entity, name, stored, type, key_place, required, fallback, coding, dropped, definition, origin
            FROM storage_catalog ORDER BY entity, id
            """)
        var entities: [UInt32: CatalogEntity] = [:]
        var order: [UInt32] = []
        while try select.step() {
            let row = select.row
            let id = UInt32(truncatingIfNeeded: select.integer(0))
            let parent = UInt32(truncatingIfNeeded: select.integer(1))
            if parent == 0 {
                var entity = CatalogEntity(id: id, name: try row.text(at: 2), stored: try row.text(at: 3), columns: [])
                entity.isDropped = select.integer(9) != 0
                entity.definition = try row.text(at: 10)
                entities[id] = entity
                order.append(id)
            } else {
                var column = CatalogColumn(
                    id: id, name: try row.text(at: 2), stored: try row.text(at: 3), type: try row.text(at: 4),
                    keyPlace: Int(select.integer(5)), required: select.integer(6) != 0, fallback: row.value(at: 7),
                    coding: try row.text(at: 8))
                column.isDropped = select.integer(9) != 0
                column.definition = try row.text(at: 10)
                column.origin = UInt32(truncatingIfNeeded: select.integer(11))
                entities[parent]?.columns.append(column)
            }
        }
        var catalog = Catalog()
        catalog.add(.catalog)
        for id in order { if let entity = entities[id] { catalog.add(entity) } }
        return catalog
    }

    /// The rows of `storage_catalog` that describe an entity and its columns, by id.
    static func rows(of entity: CatalogEntity) -> [UInt32: [StorageValue]] {
        var rows: [UInt32: [StorageValue]] = [:]
        rows[entity.id] = [
            .integer(Int64(entity.id)), 0, .text(entity.name), .text(entity.stored), "", 0, 0, .null, "",
            .integer(entity.isDropped ? 1 : 0), .text(entity.definition), 0,
        ]
        for column in entity.columns {
            rows[column.id] = [
                .integer(Int64(column.id)), .integer(Int64(entity.id)), .text(column.name), .text(column.stored),
                .text(column.type), .integer(Int64(column.keyPlace)), .integer(column.required ? 1 : 0),
                column.fallback, .text(column.coding), .integer(column.isDropped ? 1 : 0),
                .text(column.definition), .integer(Int64(column.origin)),
            ]
        }
        return rows
    }
}
