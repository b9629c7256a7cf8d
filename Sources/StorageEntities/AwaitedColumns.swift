internal import StorageCore
package import StorageLog

/// Columns that a change of the schema was to find and that a store of an earlier version doesn't have yet.
///
/// A store that skips a version gets such a column from the current declaration, under the name that it has by then. If
/// it doesn't, the change names the wrong column.
package struct AwaitedColumns {
    private var columns: [(entity: UInt32, name: ExactText, error: StorageError)] = []

    package init() {}

    /// Awaits a column of an entity, whose absence at the end is the error.
    mutating func insert(_ name: String, of entity: CatalogEntity, else error: StorageError) {
        columns.append((entity.id, ExactText(name), error))
    }

    /// A later change renames, drops or converts the column.
    mutating func remove(_ name: String, of entity: CatalogEntity) {
        columns.removeAll { $0.entity == entity.id && $0.name == ExactText(name) }
    }

    /// Checks the columns after all changes.
    ///
    /// - Throws: `schema-mismatch` for a column that its entity still lacks.
    package func check(_ catalog: Catalog) throws {
        for column in columns {
            guard let entity = catalog.entity(id: column.entity), !entity.isDropped else { continue }
            guard entity.live.contains(where: { ExactText($0.name) == column.name }) else { throw column.error }
        }
    }
}
