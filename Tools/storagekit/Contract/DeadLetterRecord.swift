import StorageKit

/// A line of `projections dead-letters`: a dead letter of a projection.
///
/// - `projection`: Its name.
/// - `row`: The event's row as it is typed.
/// - `operation`: `insert`, `update` or `delete`.
/// - `error`: Why it couldn't be applied.
/// - `position`: The event's position.
/// - `attempts`: The number of attempts.
/// - `time`: The time of the last attempt.
struct DeadLetterRecord: JSONRecord {
    let letter: DeadLetter

    func write(to json: inout JSONWriter) {
        json.member("projection", letter.projection)
        json.member("row", letter.event.target.description)
        json.member("operation", letter.event.operation.rawValue)
        json.member("error", letter.error)
        json.member("position", letter.position)
        json.member("attempts", letter.attempts)
        json.member("time", time: letter.time)
    }
}
