import StorageKit

/// A line of `grep`: an event with values that match.
///
/// - ``EventRecord``
/// - `matches`: The matching values, a ``GrepMatchRecord`` each.
struct GrepValueRecord: JSONRecord {
    let event: StorageEvent
    let matches: [GrepMatchRecord]

    func write(to json: inout JSONWriter) throws {
        EventRecord(event: event).write(to: &json)
        try json.member("matches", matches)
    }
}
