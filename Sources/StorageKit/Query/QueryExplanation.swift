public import StorageCore

/// How SQLite answers a query.
public struct QueryExplanation: Sendable, CustomStringConvertible {
    /// The statement that SQLite runs.
    public let sql: String
    /// The values that are bound to its placeholders, in order.
    public let values: [StorageValue]
    /// SQLite's plan, a line a step: `SEARCH` uses an index, `SCAN` looks at every row.
    public let plan: [String]
    /// What makes the query slow: a column by which related rows are found, of `include` and `has`, without an index, so
    /// that all rows of their table are read for each of this one's.
    public let warnings: [String]

    public var description: String {
        ([sql] + plan.map { "  " + $0 } + warnings.map { "warning: " + $0 }).joined(separator: "\n")
    }
}
