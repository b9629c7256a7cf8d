package import StorageHistory
package import StorageLog

/// Reads the whole row before and after each event of a log that is read in order, without the program's types.
///
/// Rows are cached in a temporary file, so that each event costs one look-up there. Not `Sendable`: it belongs to its
/// connection's thread.
package final class WholeRowReader {
    private let rows: RowResolver

    /// - Parameter database: A connection inside a read.
    package init(_ database: Connection, catalog: Catalog) throws {
        rows = RowResolver(
            ReadSource(database, catalog: catalog), upcasts: [:], isBehind: true, cache: try RowStateCache())
    }

    /// - Returns: nil for an event of an entity that the catalog doesn't know.
    package func event(_ batch: EventBatch, at index: Int, commit: CommitInfo) throws -> RowEvent? {
        let event = batch.withView {
            RowEvent($0, at: index, position: batch.header.first + Int64(index), commit: commit)
        }
        return try rows.whole([event]).first
    }
}
