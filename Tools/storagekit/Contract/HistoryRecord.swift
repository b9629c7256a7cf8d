import StorageKit

/// A line of a change history, as `export` writes and `import` reads it.
///
/// - `tx`: The commit's number; equal numbers are one commit.
/// - `at`: The commit's time.
/// - `actor`, `app`, `reason`, `correlation`: Who, with what, why and for what, if the commit has them.
/// - `op`: `insert`, `update` or `delete`.
/// - `table`: The table's name.
/// - `id`: The row's key as it is typed.
/// - `row`: The whole row after the change, without NULL columns; null for a delete.
struct HistoryRecord<Row: JSONRecord>: JSONRecord {
    let commit: CommitInfo
    let operation: StorageEvent.Operation
    let table: String
    let id: String
    /// The row after the change; nil after a delete.
    let row: Row?

    func write(to json: inout JSONWriter) throws {
        json.member("tx", commit.number)
        json.member("at", time: commit.time)
        let metadata = commit.metadata
        if let actor = metadata.actor { json.member("actor", actor) }
        if let app = metadata.app { json.member("app", app) }
        if let reason = metadata.reason { json.member("reason", reason) }
        if let correlation = metadata.correlation { json.member("correlation", correlation) }
        json.member("op", operation.rawValue)
        json.member("table", table)
        json.member("id", id)
        try json.member("row", row)
    }
}
