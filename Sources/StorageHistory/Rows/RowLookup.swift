internal import StorageCore
package import StorageLog

/// Finds single rows of one table by their keys, value for value, columns identified by their ids.
///
/// Not `Sendable`: it belongs to its connection's thread.
package struct RowLookup {
    private let columns: [CatalogColumn]
    private let select: PreparedStatement

    package init(_ entity: CatalogEntity, _ source: any RowSource) throws {
        columns = entity.live.sorted { $0.id < $1.id }
        let names = columns.map { quoted($0.stored) }.joined(separator: ", ")
        select = try source.statement(
            "SELECT \(names) FROM \(quoted(entity.stored)) WHERE \(Self.condition(of: entity))")
    }

    /// An SQL condition for the row with the bound key, and for no other row in the log, even if the table treats two keys as
    /// equal.
    ///
    /// - Parameters:
    ///   - first: The number of the first parameter.
    ///   - name: The name of a column in the table, as an SQL identifier.
    package static func condition(
        of entity: CatalogEntity, from first: Int = 1, name: (CatalogColumn) -> String = { quoted($0.stored) }
    ) -> String {
        entity.key.enumerated().map { index, column in
            let (name, value) = (name(column), "?\(first + index)")
            var terms = ["\(name) IS \(value)"]
            if column.collation != CatalogColumn.binary { terms.append("\(name) COLLATE BINARY IS \(value)") }
            // 1 and 1.0 are different values in a column without conversions.
            if column.affinity == .blob { terms.append("typeof(\(name)) = typeof(\(value))") }
            return terms.joined(separator: " AND ")
        }.joined(separator: " AND ")
    }

    /// The row, its cells by rising column; nil where there is none.
    package func row(_ key: [ExactValue]) throws -> [NetRow.Cell]? {
        for (index, value) in key.enumerated() { value.bind(to: select, at: Int32(index + 1)) }
        defer { select.reset() }
        guard try select.step() else { return nil }
        return columns.enumerated().map { index, column in
            NetRow.Cell(column: column.id, value: ExactValue(select, column: Int32(index)))
        }
    }
}
