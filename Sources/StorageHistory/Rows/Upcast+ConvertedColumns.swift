package import StorageCore
package import StorageLog

extension [String: Upcast] {
    /// A column's value in a row whose older events have only the columns that it was converted from: the value of the nearest of
    /// these, converted step by step, or its default if none was recorded.
    ///
    /// - Parameter recorded: The value of a column in the row's events; nil if they have none.
    /// - Throws: `schema-mismatch` if the program doesn't declare a conversion; rethrows a conversion's error.
    package func value(
        of column: CatalogColumn, in entity: CatalogEntity, recorded: (CatalogColumn) throws -> StorageValue?
    ) throws -> StorageValue {
        if let value = try recorded(column) { return value }
        guard let origin = entity.origin(of: column) else { return column.fallback }
        return try step(into: column, of: entity)(value(of: origin, in: entity, recorded: recorded))
    }
}
