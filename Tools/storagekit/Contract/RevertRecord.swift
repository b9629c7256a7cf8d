import StorageKit

/// The answer of `revert`, `undo`, `redo` and `restore-state`.
///
/// - `dry_run`: Whether nothing was changed.
/// - `reverts`: The commit that is reverted; null for several, and for `restore-state`.
/// - `commit`: The compensating commit, or null.
/// - `inserted`, `updated`, `deleted`: The number of rows.
/// - `conflicts`: A ``ConflictRecord`` each.
/// - `dropped`: If a restore of every table omits tables that existed at the point and were dropped since, their names.
/// - `plan`: If nothing was changed, the planned changes, a ``ChangeRecord`` each.
struct RevertRecord: JSONRecord {
    let report: RevertReport
    let catalog: Catalog
    let isDone: Bool

    func write(to json: inout JSONWriter) throws {
        json.member("dry_run", !isDone)
        json.member("reverts", report.revertedCommit)
        json.member("commit", report.receipt?.commit)
        json.member("inserted", report.outcome.inserted)
        json.member("updated", report.outcome.updated)
        json.member("deleted", report.outcome.deleted)
        try json.member("conflicts", report.outcome.conflicts.map { ConflictRecord(conflict: $0, catalog: catalog) })
        if !report.droppedTables.isEmpty { json.member("dropped", report.droppedTables) }
        if !isDone { try json.member("plan", report.plan.map { ChangeRecord(change: $0) }) }
    }
}
