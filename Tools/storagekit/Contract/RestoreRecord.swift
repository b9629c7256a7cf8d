import StorageKit

/// The answer of `restore`.
///
/// - `dry_run`: Whether no file was created.
/// - `store`: The new file, as it was named.
/// - `position`, `commit`: The last ones in it.
/// - `left_commits`, `left_events`: The number of the backup's commits and events that aren't in it.
/// - `inside_commit`: Whether the point was inside a commit, which is restored as a whole.
/// - `tables`: A ``RestoreRecord/Table`` each.
/// - `projections`: Projections that the program rebuilds when it opens the store.
/// - `recorded`: The commit that records it; null if no file was created.
/// - `log_loss`: What shows that the backup's log has lost its end; null if nothing does.
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
        json.member("log_loss", outcome.loss)
    }

    /// - `table`: Its name.
    /// - `rows`: Its number of rows; null if that isn't known before the file is created.
    struct Table: JSONRecord {
        let name: String
        let rows: Int64?

        func write(to json: inout JSONWriter) {
            json.member("table", name)
            json.member("rows", rows)
        }
    }
}
