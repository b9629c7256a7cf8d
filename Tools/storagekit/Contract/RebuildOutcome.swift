import StorageKit

/// The outcome of a recorded `rebuild`.
///
/// - `rows`: By table, its number of rows.
/// - `compared`: Whether the old tables were compared with the log.
/// - `kept`: By table, the name of the old one, if it was kept.
struct RebuildOutcome: JSONRecord {
    let report: RebuildReport
    let isCompared: Bool

    func write(to json: inout JSONWriter) {
        json.member("rows", byName: report.rows) { $0.integer(Int64($1)) }
        json.member("compared", isCompared)
        json.member("kept", byName: report.kept) { $0.text($1) }
    }
}
