import StorageKit

/// A line of `history`, `tail` and `replay`: an event.
///
/// - `position`: Its position.
/// - `commit`, `time`: The number and time of its commit.
/// - ``AuthorRecord``
/// - ``ChangeRecord``
struct EventRecord: JSONRecord {
    let event: StorageEvent
    /// The only columns to report; all if nil.
    var columns: [String]?

    func write(to json: inout JSONWriter) {
        json.member("position", event.position)
        json.member("commit", event.commit.number)
        json.member("time", time: event.commit.time)
        AuthorRecord(metadata: event.commit.metadata, alwaysHasReason: false).write(to: &json)
        ChangeRecord(change: event, columns: columns).write(to: &json)
    }
}
