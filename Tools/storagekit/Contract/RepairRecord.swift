import StorageKit

/// A line of `doctor --fix`: a repair.
///
/// - `would_mend`: With `--dry-run`, what would be done.
/// - `mended`: What was done.
struct RepairRecord: JSONRecord {
    let text: String
    let isDone: Bool

    func write(to json: inout JSONWriter) {
        if isDone { json.member("mended", text) } else { json.member("would_mend", text) }
    }
}
