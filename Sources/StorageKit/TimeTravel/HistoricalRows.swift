package import StorageCore
package import StorageEntities
package import StorageHistory
package import StorageLog

/// Single rows of the past as a record type reads them, each reconstructed from its own events.
///
/// Not `Sendable`: it belongs to its connection's thread.
package final class HistoricalRows<Record: StorageKitEntityRecord> {
    let catalog: Catalog
    private let reader: LogReader
    private let upcasts: [String: Upcast]
    private let values: PreparedStatement
    /// The record's columns in the entity that was read last.
    private var known: (entity: CatalogEntity, past: CatalogEntity, columns: [CatalogColumn?])?

    /// - Parameter upcasts: The program's column conversions, by title.
    convenience init(_ connection: Connection, upcasts: [String: Upcast]) throws {
        try self.init(connection, catalog: try Catalog.load(connection), upcasts: upcasts)
    }

    /// - Parameters:
    ///   - catalog: The catalog at the connection's state.
    ///   - upcasts: The program's column conversions, by title.
    package init(_ connection: Connection, catalog: Catalog, upcasts: [String: Upcast]) throws {
        reader = LogReader(connection)
        self.catalog = catalog
        self.upcasts = upcasts
        // Errors of values name the column.
        let columns = EntityTableCache.of(Record.self).columns.enumerated().map {
            "?\($0.offset + 1) AS \(quoted($0.element.name))"
        }
        values = try PreparedStatement(connection, "SELECT \(columns.joined(separator: ", "))")
    }

    /// The values of the record's columns; nil if there was no such row.
    ///
    /// - Parameter entity: The row's entity; its columns may have had other names then.
    package func row(_ key: [StorageValue], of entity: CatalogEntity, at position: Int64) throws -> [ExactValue]? {
        let known = catalog.entity(id: entity.id) ?? entity
        var wanted: Set<UInt32> = []
        for column in columns(of: known, entity) {
            var current = column
            while let found = current, found.keyOrdinal == 0 {
                wanted.insert(found.id)
                current = known.origin(of: found)
            }
        }
        guard let image = try reader.image(of: key, in: known, at: position, columns: wanted) else { return nil }
        return try row(key, of: known, or: entity) { image.cells[$0]?.value }
    }

    /// Returns the values of the record's columns, given the values that the row's events have set.
    ///
    /// - Parameters:
    ///   - past: The entity as it was when its columns may have had other names.
    ///   - value: Returns the value of the column with an id, if an event has set it.
    package func row(
        _ key: [StorageValue], of entity: CatalogEntity, or past: CatalogEntity? = nil,
        _ value: (UInt32) -> ExactValue?
    ) throws -> [ExactValue] {
        try columns(of: entity, past ?? entity).map { column in
            try column.map { try self.value(of: $0, key: key, in: entity, value) } ?? .null
        }
    }

    private func columns(of entity: CatalogEntity, _ past: CatalogEntity) -> [CatalogColumn?] {
        if let known, known.entity.id == entity.id, known.past.id == past.id, known.past.columns == past.columns {
            return known.columns
        }
        let columns = EntityTableCache.of(Record.self).columns.map { declared in
            entity.column(named: declared.name) ?? past.column(named: declared.name)
        }
        known = (entity, past, columns)
        return columns
    }

    private func value(
        of column: CatalogColumn, key: [StorageValue], in entity: CatalogEntity, _ value: (UInt32) -> ExactValue?
    ) throws -> ExactValue {
        // Unconverted values are returned unchanged: the text needn't be valid UTF-8.
        if column.keyOrdinal == 0, let value = value(column.id) { return value }
        return ExactValue(
            try upcasts.value(of: column, in: entity) {
                $0.keyOrdinal > 0 ? key[$0.keyOrdinal - 1] : value($0.id)?.value
            })
    }

    /// Returns whether two rows have the same values, ignoring when they were saved.
    func isSame(_ one: [ExactValue]?, _ other: [ExactValue]?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return Record.stampsUpdatedAt ? one.dropLast() == other.dropLast() : one == other
    }

    package func entity(_ row: [ExactValue]) throws -> Record.E {
        for (index, value) in row.enumerated() { value.bind(to: values, at: Int32(index + 1)) }
        defer { values.reset() }
        guard try values.step() else { throw StorageError.corruptLog("a row has no columns") }
        return try Record(reading: values.row).asEntity()
    }
}
