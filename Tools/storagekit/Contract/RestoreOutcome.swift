import StorageKit

/// What a recorded `restore` did.
///
/// - `to`: The point as it was written.
/// - `position`: The position that it named.
struct RestoreOutcome: JSONRecord {
    let point: PointArgument
    let position: Int64

    func write(to json: inout JSONWriter) {
        json.member("to", point.description)
        json.member("position", position)
    }
}
