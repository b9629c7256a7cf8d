internal import StorageCore
internal import StorageLog
internal import StorageProjections

/// Single rows of the past as a record type reads them, each found along its own events.
///
/// Not `Sendable`: it belongs to its connection's thread.
struct PastRows<Record: StorageKitEntityRecord> {
    private let reader: LogReader
    private let catalog: Catalog
    private let values: StorageLog.Statement

    init(_ connection: OpaquePointer) throws {
        reader = LogReader(connection)
        catalog = try Catalog.load(connection)
        let marks = Record.schemaColumns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        values = try StorageLog.Statement(connection, "SELECT \(marks)")
    }

    /// The values of the record's columns; nil where there was no such row.
    ///
    /// - Parameter entity: The row's entity, of which the columns may have had other names.
    func row(_ key: [StorageValue], of entity: CatalogEntity, at position: Int64) throws -> [ExactValue]? {
        let known = catalog.entity(id: entity.id) ?? entity
        let columns = Record.schemaColumns.map { declared in
            known.column(named: declared.name) ?? entity.column(named: declared.name)
        }
        let wanted = Set(columns.compactMap { $0 }.filter { $0.keyPlace == 0 }.map(\.id))
        guard let image = try reader.image(of: key, in: known, at: position, columns: wanted) else { return nil }
        return columns.map { column in
            guard let column else { return .null }
            if column.keyPlace > 0 { return ExactValue(key[column.keyPlace - 1]) }
            return image.value(of: column)
        }
    }

    /// Whether two rows are the same entity: when it was saved isn't part of it.
    func isSame(_ one: [ExactValue]?, _ other: [ExactValue]?) -> Bool {
        guard let one, let other else { return one == nil && other == nil }
        return Record.stampsUpdatedAt ? one.dropLast() == other.dropLast() : one == other
    }

    func entity(_ row: [ExactValue]) throws -> Record.E {
        for (index, value) in row.enumerated() { value.bind(to: values, at: Int32(index + 1)) }
        defer { values.reset() }
        guard try values.step() else { throw StorageError.corruptLog("a row has no columns") }
        return try Record(reading: values.row).asEntity()
    }
}
