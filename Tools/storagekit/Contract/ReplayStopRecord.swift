import StorageKit

/// A line of `replay`: where it stands and why.
///
/// - `stop`: `step`, `break`, `error`, `end`, `beginning` or `point`.
/// - `condition`: Of a break, the condition as it was written.
/// - `error`: Of an error, what was said.
/// - `event`: Of both, the position of the event.
/// - `position`, `commit`: Where it stands; `commit` is null before the first.
struct ReplayStopRecord: JSONRecord {
    enum Cause {
        case condition(String, event: Int64)
        case error(String, event: Int64)
    }

    let stop: String
    /// nil where it stands where it was to.
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
