import StorageKit

/// The answer of `verify`.
///
/// - `ok`: Whether the store is intact.
/// - `requested`: The first and the last position of the log; empty if it is.
/// - `verified`: The first and the last position that are known to be intact.
/// - `not_verified`: Ranges between them that couldn't be verified, a first and a last position each.
/// - `events`, `commits`, `rows`: The numbers of events and commits that were read, and of table rows that were compared.
/// - `findings`: The damage found, a ``VerifyRecord/Finding`` each.
/// - `warnings`: Warnings, in the same form.
/// - `truncated`: Whether there are more findings than listed.
struct VerifyRecord: JSONRecord {
    let report: VerifyReport
    let verified: ClosedRange<Int64>?

    func write(to json: inout JSONWriter) throws {
        json.member("ok", report.isSound)
        json.key("requested")
        write(report.requested, to: &json)
        json.key("verified")
        write(verified, to: &json)
        json.key("not_verified")
        json.beginArray()
        for gap in report.notVerified { write(gap, to: &json) }
        json.endArray()
        json.member("events", report.events)
        json.member("commits", report.commits)
        json.member("rows", report.rows)
        try json.member("findings", report.findings.map(Finding.init))
        try json.member("warnings", report.warnings.map(Finding.init))
        json.member("truncated", report.isTruncated)
    }

    private func write(_ range: ClosedRange<Int64>?, to json: inout JSONWriter) {
        json.beginArray()
        if let range {
            json.integer(range.lowerBound)
            json.integer(range.upperBound)
        }
        json.endArray()
    }

    /// - `kind`: The kind of damage.
    /// - `position`, `table`: Where it is, as far as known.
    /// - `message`: A description of the damage.
    struct Finding: JSONRecord {
        let finding: VerifyReport.Finding

        func write(to json: inout JSONWriter) {
            json.member("kind", finding.kind)
            json.member("position", finding.position)
            json.member("table", finding.table)
            json.member("message", finding.message)
        }
    }
}
