import StorageKit

/// A line of `log`.
///
/// - ``CommitRecord``
/// - `events`: With `--patch`, its ``PositionedChangeRecord``s, oldest first.
struct LogRecord: JSONRecord {
    let commit: AnnotatedCommit
    let events: JSONStream<PositionedChangeRecord>?

    func write(to json: inout JSONWriter) throws {
        try CommitRecord(commit: commit).write(to: &json)
        if let events { try json.member("events", events) }
    }
}
