import StorageKit

/// A line of `doctor --fix`: a repair.
///
/// - `would_fix`: With `--dry-run`, what would be done.
/// - `fixed`: What was done.
struct RepairRecord: JSONRecord {
    let text: String
    let isDone: Bool

    func write(to json: inout JSONWriter) {
        if isDone { json.member("fixed", text) } else { json.member("would_fix", text) }
    }
}
