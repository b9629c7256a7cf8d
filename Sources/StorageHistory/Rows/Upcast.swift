package import StorageCore
package import StorageLog

/// Turns a value that a column held before it was converted into what it would hold now.
package typealias Upcast = @Sendable (StorageValue) throws -> StorageValue

extension [String: Upcast] {
    /// The step that filled a column from the one before it.
    ///
    /// - Throws: `schema-mismatch` where the program doesn't declare the conversion.
    package func step(into column: CatalogColumn, of entity: CatalogEntity) throws -> Upcast {
        if let step = self[column.definition] { return step }
        throw StorageError(
            .schemaMismatch,
            "\"\(entity.name)\".\"\(column.name)\" was converted, and this program doesn't declare how.",
            remedy: "Declare the conversion (\(column.definition)) again, or read with schema: .asRecorded.")
    }
}
