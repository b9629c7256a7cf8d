import StorageKit

/// What a recorded `doctor --fix` did.
///
/// - `complete`: Whether everything was repaired that was to be.
/// - `mended`: What was done, in words.
struct RepairOutcome: JSONRecord {
    let isComplete: Bool
    let mended: [String]

    func write(to json: inout JSONWriter) {
        json.member("complete", isComplete)
        json.member("mended", mended)
    }
}
