import StorageKit

/// What a recorded `rebuild` did.
///
/// - `rows`: By table, how many rows it has.
/// - `compared`: Whether the tables were compared with the log before.
/// - `kept`: By table, what the old one is called now, where it was kept.
struct RebuildOutcome: JSONRecord {
    let report: RebuildReport
    let isCompared: Bool

    func write(to json: inout JSONWriter) {
        json.member("rows", byName: report.rows) { $0.integer(Int64($1)) }
        json.member("compared", isCompared)
        json.member("kept", byName: report.kept) { $0.text($1) }
    }
}
