import StorageKit

/// The answer of `projections pause`, `resume` and `reset` with `--dry-run`.
///
/// - `dry_run`: `true`.
/// - `name`: The projection.
/// - `action`: What would be done.
/// - `state`: Its state, which isn't changed.
struct ProjectionPlanRecord: JSONRecord {
    let name: String
    let action: String
    let state: String

    func write(to json: inout JSONWriter) {
        json.member("dry_run", true)
        json.member("name", name)
        json.member("action", action)
        json.member("state", state)
    }
}
