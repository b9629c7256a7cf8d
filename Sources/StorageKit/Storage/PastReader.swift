internal import GRDB
internal import StorageCore

/// A past state of the store, whose tables needn't be created to read some of their rows.
protocol PastReader: EntityReader {
    /// Runs `body`, which reads the rows of one table and nothing else, on a state that needn't have the whole table.
    ///
    /// - Parameter condition: A condition without SQL that all rows meet that `body` reads; nil if it may read any row.
    func readingRows<Result: Sendable>(
        of table: String, matching condition: RowPredicate?,
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result
}
