import StorageKit

/// The answer of `rebuild --abandon`.
///
/// - `ok`: `true`.
/// - `dry_run`: Whether nothing was discarded.
/// - ``LeftoversRecord``
/// - `recorded`: The commit that records it; null if nothing was changed.
struct AbandonRecord: JSONRecord {
    let leftovers: RebuildLeftovers
    let isDryRun: Bool
    let recorded: Int64?

    func write(to json: inout JSONWriter) {
        json.member("ok", true)
        json.member("dry_run", isDryRun)
        LeftoversRecord(leftovers: leftovers).write(to: &json)
        json.member("recorded", recorded)
    }
}
