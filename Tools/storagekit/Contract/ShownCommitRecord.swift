import StorageKit

/// The answer of `show` for a commit.
///
/// - ``CommitRecord``
/// - `idempotency_key`: Its idempotency key, if it has one.
/// - `stored`: A ``StoredRowsRecord``.
/// - `events`: Its ``PositionedChangeRecord``s, oldest first.
struct ShownCommitRecord: JSONRecord {
    let commit: AnnotatedCommit
    let stored: LogUsage
    let events: JSONStream<PositionedChangeRecord>

    func write(to json: inout JSONWriter) throws {
        try CommitRecord(commit: commit).write(to: &json)
        if let key = commit.info.metadata.idempotencyKey { json.member("idempotency_key", key) }
        try json.member("stored", StoredRowsRecord(rows: stored))
        try json.member("events", events)
    }
}
