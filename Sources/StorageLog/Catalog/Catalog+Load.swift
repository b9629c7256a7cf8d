internal import CSQLite
internal import StorageCore

extension Catalog {
    /// Reads the catalog of an open store.
    package static func load(_ database: OpaquePointer) throws -> Catalog {
        let select = try Statement(database, "\(selection) ORDER BY entity, id")
        var rows: [[StorageValue]] = []
        while try select.step() { rows.append(try values(of: select.row)) }
        return try Catalog(rows: rows)
    }

    /// Selects the columns in the order of ``rows(of:)``, then the position of the row's last event.
    static let selection = """
        SELECT id, entity, name, stored, type, key_place, required, fallback, coding, dropped, definition, origin,
          _position
        FROM storage_catalog
        """

    /// - Throws: `invalid-value` for a name that isn't valid UTF-8 text.
    static func values(of row: RowReader) throws -> [StorageValue] {
        try (0..<12).map { column in
            [2, 3, 4, 8, 10].contains(column) ? .text(try row.text(at: column)) : row.value(at: column)
        }
    }

    /// The catalog that rows of `storage_catalog` describe, entities before their columns, each by rising id.
    init(rows: [[StorageValue]]) throws {
        self.init()
        var entities: [UInt32: CatalogEntity] = [:]
        var order: [UInt32] = []
        for row in rows {
            let id = UInt32(truncatingIfNeeded: row[0].catalogNumber)
            let parent = UInt32(truncatingIfNeeded: row[1].catalogNumber)
            if parent == 0 {
                var entity = CatalogEntity(
                    id: id, name: try row[2].catalogText, stored: try row[3].catalogText, columns: [])
                entity.isDropped = row[9].catalogNumber != 0
                entity.definition = try row[10].catalogText
                entities[id] = entity
                order.append(id)
            } else {
                var column = CatalogColumn(
                    id: id, name: try row[2].catalogText, stored: try row[3].catalogText, type: try row[4].catalogText,
                    keyPlace: Int(row[5].catalogNumber), required: row[6].catalogNumber != 0, fallback: row[7],
                    coding: try row[8].catalogText)
                column.isDropped = row[9].catalogNumber != 0
                column.definition = try row[10].catalogText
                column.origin = UInt32(truncatingIfNeeded: row[11].catalogNumber)
                entities[parent]?.columns.append(column)
            }
        }
        for entity in CatalogEntity.reserved { add(entity) }
        for id in order { if let entity = entities[id] { add(entity) } }
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

extension StorageValue {
    fileprivate var catalogNumber: Int64 {
        guard case .integer(let number) = self else { return 0 }
        return number
    }

    fileprivate var catalogText: String {
        get throws {
            guard case .text(let text) = self else {
                throw StorageError.corruptLog("the catalog holds \(self) where a name is expected")
            }
            return text
        }
    }
}
