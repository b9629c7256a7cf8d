internal import GRDB

/// A query of a past state, whose tables needn't be created to read some of their rows.
protocol PastQuery: FetchableQuery {
    /// Runs `body`, which reads only rows that the request means: there may be no others.
    func readingMatches<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result
}
