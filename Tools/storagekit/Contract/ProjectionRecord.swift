import StorageKit

/// A line of `projections`.
///
/// - `name`: The projection's name.
/// - `kind`: `inline`, `async` or `full-text`.
/// - `state`: `running`, `paused`, `failed`, `reset` …
/// - `version`: The version of its rules.
/// - `position`, `head`, `lag`: The position that it reflects, the end of the log for it, and the number of events between.
/// - `events`: The number of events that it has applied.
/// - `microseconds`: The time that took.
/// - `bytes`: The size of its tables.
/// - `dead_letters`: The number of its dead letters.
/// - `events_per_second`, `microseconds_per_event`: Its speed, if known.
/// - `error`, `failed`: Why it failed and at which position, if it did.
struct ProjectionRecord: JSONRecord {
    let projection: ProjectionStatus

    func write(to json: inout JSONWriter) {
        json.member("name", projection.name)
        json.member("kind", projection.kind)
        json.member("state", projection.state.rawValue)
        json.member("version", projection.version)
        json.member("position", projection.position)
        json.member("head", projection.head)
        json.member("lag", projection.lag)
        json.member("events", projection.events)
        json.member("microseconds", Int64(projection.seconds * 1_000_000))
        json.member("bytes", projection.bytes)
        json.member("dead_letters", projection.deadLetters)
        if let pace = projection.eventsPerSecond { json.member("events_per_second", pace) }
        if let seconds = projection.secondsPerEvent { json.member("microseconds_per_event", seconds * 1_000_000) }
        if let error = projection.error {
            json.member("error", error)
            json.member("failed", projection.failedPosition ?? 0)
        }
    }
}
