/// The results of an import.
struct ImportSummary: Sendable {
    var commits = 0
    var inserts = 0
    var updates = 0
    var deletes = 0
    /// Updates without a change, which have no event.
    var unchanged = 0
    /// Commits whose time was before that of the previous commit.
    var clampedTimes = 0
    /// Commits without a time, which got the time of the import.
    var stampedTimes = 0
    /// Commits whose time was finer than a microsecond.
    var cutTimes = 0
    var skippedLines = 0
    var skippedCommits = 0
    /// Operations that an earlier run had imported already.
    var resumedAfter = 0
    /// The inferred columns, by table.
    var tables: [(name: String, columns: [String])] = []
    /// Values that don't fit the kind of their column, by table and column.
    var deviants: [(column: String, count: Int)] = []

    var operations: Int { inserts + updates + deletes }
}
