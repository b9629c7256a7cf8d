import StorageKit

/// The outcome of a recorded `projections pause`, `resume` or `reset`.
///
/// - `was`: The projection's state before.
/// - `position`: The position that it reflected.
struct ProjectionOutcome: JSONRecord {
    let projection: ProjectionStatus

    func write(to json: inout JSONWriter) {
        json.member("was", projection.state.rawValue)
        json.member("position", projection.position)
    }
}
