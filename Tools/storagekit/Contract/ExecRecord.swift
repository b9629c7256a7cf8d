import StorageKit

/// The answer of `exec` and `record`.
///
/// - `dry_run`: Whether nothing was changed.
/// - `commit`: The commit; null if no row of a table with history changes.
/// - `inserted`, `updated`, `deleted`: The number of rows.
/// - `plan`: If nothing was changed, the planned changes, a ``ChangeRecord`` each.
struct ExecRecord: JSONRecord {
    let report: ExecutionReport
    let isDone: Bool

    func write(to json: inout JSONWriter) throws {
        json.member("dry_run", !isDone)
        json.member("commit", report.receipt?.commit)
        json.member("inserted", report.inserted)
        json.member("updated", report.updated)
        json.member("deleted", report.deleted)
        if !isDone { try json.member("plan", report.plan.map { ChangeRecord(change: $0) }) }
    }
}
