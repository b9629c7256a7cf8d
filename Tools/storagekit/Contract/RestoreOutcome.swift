import StorageKit

/// The outcome of a recorded `restore`.
///
/// - `to`: The point as it was written.
/// - `position`: The position of the point.
struct RestoreOutcome: JSONRecord {
    let point: PointArgument
    let position: Int64

    func write(to json: inout JSONWriter) {
        json.member("to", point.description)
        json.member("position", position)
    }
}
