import StorageKit

/// What `guard` prints.
///
/// - `guard`: Whether it is on.
/// - `tables`: How many tables have a history.
/// - `unguarded`: Those whose guard is missing or changed, where it is on.
struct GuardRecord: JSONRecord {
    let isOn: Bool
    let tables: Int
    let unguarded: [String]

    func write(to json: inout JSONWriter) {
        json.member("guard", isOn)
        json.member("tables", tables)
        json.member("unguarded", unguarded)
    }
}
