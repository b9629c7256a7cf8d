import StorageKit

/// What `guard` prints.
///
/// - `guard`: Whether it is on, or would be.
/// - `tables`: How many tables have a history.
/// - `unguarded`: Those whose guard is missing or changed, where it is on.
/// - `dry_run`: Whether this only would be.
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
