internal import StorageCore
internal import StorageLog

/// Finds single rows of one table by their keys, value for value, columns told apart by their ids.
///
/// Not `Sendable`: it belongs to its connection's thread.
struct RowSelect {
    let columns: [CatalogColumn]
    private let select: Statement

    init(_ entity: CatalogEntity, _ source: any RowSource) throws {
        columns = entity.live
        let names = columns.map { quoted($0.stored) }.joined(separator: ", ")
        select = try source.statement(
            "SELECT \(names) FROM \(quoted(entity.stored)) WHERE \(Self.condition(of: entity))")
    }

    /// What is true of the row whose key is bound.
    static func condition(of entity: CatalogEntity) -> String {
        StorageLog.condition(binding: entity.key.map(\.stored))
    }

    func row(_ key: [ExactValue]) throws -> [UInt32: ExactValue]? {
        for (place, value) in key.enumerated() { value.bind(to: select, at: Int32(place + 1)) }
        defer { select.reset() }
        guard try select.step() else { return nil }
        var row: [UInt32: ExactValue] = [:]
        for (place, column) in columns.enumerated() { row[column.id] = ExactValue(select, column: Int32(place)) }
        return row
    }
}
