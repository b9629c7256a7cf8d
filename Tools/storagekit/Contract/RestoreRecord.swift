import StorageKit

/// The answer of `restore`.
///
/// - `dry_run`: Whether no file was made.
/// - `store`: The new file, as it was named.
/// - `position`, `commit`: The last ones in it.
/// - `left_commits`, `left_events`: How many of the backup's aren't in it.
/// - `inside_commit`: Whether the point was inside of a commit, which is restored as a whole.
/// - `tables`: A ``RestoreRecord/Table`` each.
/// - `projections`: Projections that the program rebuilds when it opens the store.
/// - `recorded`: The commit that records it; null where no file was made.
struct RestoreRecord: JSONRecord {
    let outcome: PointRestore.Outcome
    let path: String
    let isDryRun: Bool

    func write(to json: inout JSONWriter) throws {
        json.member("dry_run", isDryRun)
        json.member("store", path)
        json.member("position", outcome.head.position)
        json.member("commit", outcome.head.commit)
        json.member("left_commits", outcome.leftCommits)
        json.member("left_events", outcome.leftEvents)
        json.member("inside_commit", outcome.wasInsideCommit)
        try json.member("tables", outcome.tables.map { Table(name: $0, rows: outcome.rows[$0]) })
        json.member("projections", outcome.projections)
        json.member("recorded", outcome.recorded)
    }

    /// - `table`: Its name.
    /// - `rows`: How many it has; null where that isn't known before it is made.
    struct Table: JSONRecord {
        let name: String
        let rows: Int64?

        func write(to json: inout JSONWriter) {
            json.member("table", name)
            json.member("rows", rows)
        }
    }
}
