import StorageKit

/// The answer of `guard`.
///
/// - `guard`: Whether the write guard is on, or would be.
/// - `tables`: The number of tables with a history.
/// - `unguarded`: The tables whose guard is missing or changed while the guard is on.
/// - `dry_run`: Whether nothing was changed.
struct GuardRecord: JSONRecord {
    let isOn: Bool
    let tables: Int
    let unguarded: [String]
    let isDryRun: Bool

    func write(to json: inout JSONWriter) {
        json.member("guard", isOn)
        json.member("tables", tables)
        json.member("unguarded", unguarded)
        json.member("dry_run", isDryRun)
    }
}
