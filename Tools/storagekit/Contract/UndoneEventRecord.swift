import StorageKit

/// A line of `replay` on the way back: an event that is undone.
///
/// - `undone`: `true`.
/// - ``EventRecord``
struct UndoneEventRecord: JSONRecord {
    let event: StorageEvent

    func write(to json: inout JSONWriter) {
        json.member("undone", true)
        EventRecord(event: event).write(to: &json)
    }
}
