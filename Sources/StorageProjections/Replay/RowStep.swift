package import StorageCore
internal import StorageHistory
package import StorageLog

/// An event with the whole row before it and after it.
package struct RowStep: Sendable {
    package let position: Int64
    package let commit: CommitInfo
    package let operation: StorageEvent.Operation
    package let entity: CatalogEntity
    package let key: [StorageValue]
    let before: RowResolver.Image?
    let after: RowResolver.Image?

    /// What a column held before the event; nil where there was no row.
    package func old(_ column: CatalogColumn) -> StorageValue? { before.map { value(of: column, in: $0) } }
    /// What it holds since; nil where there is no row any more.
    package func new(_ column: CatalogColumn) -> StorageValue? { after.map { value(of: column, in: $0) } }

    private func value(of column: CatalogColumn, in image: RowResolver.Image) -> StorageValue {
        if column.keyOrdinal > 0 { return column.keyOrdinal <= key.count ? key[column.keyOrdinal - 1] : .null }
        // What a conversion would have made of older values only the program knows.
        return image[column.id] ?? (column.origin == 0 ? column.fallback : .null)
    }
}

/// Makes steps of events that are read in the order of the log, for who doesn't know the program's types.
///
/// Rows that were seen are kept aside in a temporary file, so each event costs one look-up there. Not `Sendable`: it
/// belongs to its connection's thread.
package final class RowSteps {
    private let images: RowResolver
    private let catalog: Catalog

    /// - Parameter database: A connection inside a read.
    package init(_ database: Connection, catalog: Catalog) throws {
        self.catalog = catalog
        images = RowResolver(
            ReadSource(database, catalog: catalog), upcasts: [:], isBehind: true, cache: try RowStateCache())
    }

    /// - Returns: nil for an event of an entity that the catalog doesn't know.
    package func step(_ batch: EventBatch, at index: Int, commit: CommitInfo) throws -> RowStep? {
        let event = batch.withView {
            RowEvent($0, at: index, position: batch.header.first + Int64(index), commit: commit)
        }
        guard let step = try images.steps([event]).first else { return nil }
        return RowStep(
            position: event.position, commit: commit, operation: event.operation, entity: step.entity, key: step.key,
            before: step.before, after: step.after)
    }
}
