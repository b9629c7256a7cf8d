import StorageKit

/// The outcome of a recorded `doctor --fix`.
///
/// - `complete`: Whether all repairs were made.
/// - `mended`: What was done, as text.
struct RepairOutcome: JSONRecord {
    let isComplete: Bool
    let mended: [String]

    func write(to json: inout JSONWriter) {
        json.member("complete", isComplete)
        json.member("mended", mended)
    }
}
