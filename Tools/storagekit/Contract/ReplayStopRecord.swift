import StorageKit

/// A line of `replay`: where it has stopped and why.
///
/// - `stop`: `step`, `break`, `error`, `end`, `beginning` or `point`.
/// - `condition`: For a break, the condition as it was written.
/// - `error`: For an error, its message.
/// - `event`: For both, the position of the event.
/// - `position`, `commit`: Where it has stopped; `commit` is null before the first.
struct ReplayStopRecord: JSONRecord {
    enum Cause {
        case condition(String, event: Int64)
        case error(String, event: Int64)
    }

    let stop: String
    /// nil if it stopped at the requested point.
    let cause: Cause?
    let position: Int64
    let commit: Int64?

    func write(to json: inout JSONWriter) {
        json.member("stop", stop)
        switch cause {
        case .condition(let text, let position)?:
            json.member("condition", text)
            json.member("event", position)
        case .error(let text, let position)?:
            json.member("error", text)
            json.member("event", position)
        case nil: break
        }
        json.member("position", position)
        json.member("commit", commit)
    }
}
