package import StorageCore
package import StorageLog

/// Converts a value that a column held before its conversion to the current form.
package typealias Upcast = @Sendable (StorageValue) throws -> StorageValue

extension [String: Upcast] {
    /// The conversion that filled a column from its origin.
    ///
    /// - Throws: `schema-mismatch` if the program doesn't declare the conversion.
    package func step(into column: CatalogColumn, of entity: CatalogEntity) throws -> Upcast {
        if let step = self[column.definition] { return step }
        throw StorageError(
            .schemaMismatch,
            "\"\(entity.name)\".\"\(column.name)\" was converted, and this program doesn't declare how.",
            remedy: "Declare the conversion (\(column.definition)) again, or read with schema: .asRecorded.")
    }
}
