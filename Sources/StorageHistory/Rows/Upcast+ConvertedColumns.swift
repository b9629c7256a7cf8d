package import StorageCore
package import StorageLog

extension [String: Upcast] {
    /// What a column holds in a row of which older events have only the columns that it was converted from: the value of
    /// the nearest of these, converted step by step, or its default where none was recorded.
    ///
    /// - Parameter recorded: The value that the row's events have of a column; nil where they have none.
    /// - Throws: `schema-mismatch` where the program doesn't declare a conversion; what a conversion throws.
    package func value(
        of column: CatalogColumn, in entity: CatalogEntity, recorded: (CatalogColumn) throws -> StorageValue?
    ) throws -> StorageValue {
        if let value = try recorded(column) { return value }
        guard let origin = entity.origin(of: column) else { return column.fallback }
        return try step(into: column, of: entity)(value(of: origin, in: entity, recorded: recorded))
    }
}
