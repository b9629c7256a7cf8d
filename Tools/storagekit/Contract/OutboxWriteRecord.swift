import StorageKit
import StorageSync

/// A pending write.
///
/// - `position`: The event that it sends.
/// - `document`: The id of its document.
/// - `op`: `insert`, `update` or `delete`.
/// - `state`: `waiting`, `sent`, `parked` or `discarded`.
/// - `why`: Why it is parked, or null.
/// - `commit`, `time`: The number and time of the event's commit.
/// - ``AuthorRecord``
struct OutboxWriteRecord: JSONRecord {
    let write: OutboxStatus.Write
    let commit: CommitInfo?

    func write(to json: inout JSONWriter) {
        json.member("position", write.position)
        json.member("document", write.documentId)
        json.member("op", write.kind.name)
        json.member("state", write.state.name)
        json.member("why", write.reason)
        guard let commit else { return }
        json.member("commit", commit.number)
        json.member("time", time: commit.time)
        AuthorRecord(metadata: commit.metadata, alwaysHasReason: true).write(to: &json)
    }
}
