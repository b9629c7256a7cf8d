import StorageKit

/// The answer of `verify`.
///
/// - `ok`: Whether the store is what was written.
/// - `requested`: The first and the last position of the log; empty where it is.
/// - `verified`: The first and the last position that can be vouched for.
/// - `not_verified`: Ranges between them that can't be, a first and a last position each.
/// - `events`, `commits`, `rows`: How many were read, and how many rows of tables were compared.
/// - `findings`: What is wrong, a ``VerifyRecord/Finding`` each.
/// - `warnings`: What isn't wrong but worth knowing, in the same form.
/// - `truncated`: Whether there are more findings than are listed.
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

    /// - `kind`: A word for the kind of damage.
    /// - `position`, `table`: Where it is, as far as that is known.
    /// - `message`: What is wrong.
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
