import StorageKit

/// The outcome of a recorded `doctor --fix`.
///
/// - `complete`: Whether all repairs were made.
/// - `fixed`: What was done, as text.
struct RepairOutcome: JSONRecord {
    let isComplete: Bool
    let fixed: [String]

    func write(to json: inout JSONWriter) {
        json.member("complete", isComplete)
        json.member("fixed", fixed)
    }
}
