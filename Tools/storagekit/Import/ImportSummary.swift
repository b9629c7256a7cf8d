/// What an import did.
struct ImportSummary: Sendable {
    var commits = 0
    var inserts = 0
    var updates = 0
    var deletes = 0
    /// Updates that changed nothing, for which there is no event.
    var unchanged = 0
    /// Commits whose time lay before that of the commit before them.
    var clampedTimes = 0
    /// Commits without a time, which got the time of the import.
    var stampedTimes = 0
    /// Commits whose time was finer than a microsecond.
    var cutTimes = 0
    var skippedLines = 0
    var skippedCommits = 0
    /// Operations that an earlier run had imported already.
    var resumedAfter = 0
    /// Columns by table, as they were inferred.
    var tables: [(name: String, columns: [String])] = []
    /// Values that don't fit the kind of their column, by table and column.
    var deviants: [(column: String, count: Int)] = []

    var operations: Int { inserts + updates + deletes }
}
