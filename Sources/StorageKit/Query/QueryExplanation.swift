public import StorageCore

/// How SQLite answers a query.
///
/// ```swift
/// let explanation = try await storage.query(Post.self).where { $0.authorId == "1" }.explain()
/// if explanation.plan.contains(where: { $0.hasPrefix("SCAN") }) { print(explanation) }
/// ```
public struct QueryExplanation: Sendable, CustomStringConvertible {
    /// The statement that SQLite runs.
    public let sql: String
    /// The values that are bound to its placeholders, in order.
    public let values: [StorageValue]
    /// SQLite's plan, one line for each step: `SEARCH` uses an index, `SCAN` looks at every row.
    public let plan: [String]
    /// Reasons why the query is slow: columns without an index by which `include` and `has` find related rows, so that every
    /// row of this table causes a scan of the related table.
    public let warnings: [String]

    public var description: String {
        ([sql] + plan.map { "  " + $0 } + warnings.map { "warning: " + $0 }).joined(separator: "\n")
    }
}
