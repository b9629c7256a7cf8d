import StorageKit

/// A commit: the common part of the lines of `log`, `show`, `bisect` and `grep --in meta`.
///
/// - `commit`: Its number.
/// - `from`, `to`: Its first and its last position.
/// - `time`: Its time; never earlier than that of the previous commit.
/// - `clock`: The time of the clock, if that was earlier.
/// - ``AuthorRecord``
/// - `attributes`: Texts by name, if it has any.
/// - ``AnnotationRecord``
/// - `changes`: By table, a ``CountsRecord`` of the selected events.
struct CommitRecord: JSONRecord {
    let commit: AnnotatedCommit

    func write(to json: inout JSONWriter) throws {
        let info = commit.info
        json.member("commit", info.number)
        json.member("from", commit.positions.lowerBound)
        json.member("to", commit.positions.upperBound)
        json.member("time", time: info.time)
        if let clock = info.clock { json.member("clock", time: clock) }
        AuthorRecord(metadata: info.metadata, alwaysHasReason: true).write(to: &json)
        if !info.metadata.attributes.isEmpty {
            json.member("attributes", byName: info.metadata.attributes) { $0.text($1) }
        }
        AnnotationRecord(tags: commit.tags, notes: commit.notes).write(to: &json)
        try json.member("changes", byName: commit.changes.map { ($0.table, $0.counts) }) {
            try $0.object(CountsRecord(counts: $1))
        }
    }
}
