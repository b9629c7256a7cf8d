import StorageKit

/// The answer of `rebuild`.
///
/// - `ok`: Whether no compared row differed.
/// - `compared`, `swapped`: Whether tables were compared with the log, and whether the new ones were swapped in.
/// - `position`: The position up to which they were rebuilt.
/// - `resumed`: The position after which an interrupted rebuild resumed; 0 if there was none.
/// - `rows`: By table, its number of rows.
/// - `kept`: By table, the name of the old one, if it was kept.
/// - `differing_rows`, `differences`: If compared: the number of rows that differ, and the first of them, a ``RebuildRecord/Difference`` each.
/// - `recorded`: The commit that records the rebuild; null if nothing was changed.
struct RebuildRecord: JSONRecord {
    let report: RebuildReport
    let isCompared: Bool
    let recorded: Int64?

    func write(to json: inout JSONWriter) throws {
        json.member("ok", report.differences.isEmpty)
        json.member("compared", isCompared)
        json.member("swapped", report.isSwapped)
        json.member("position", report.position)
        json.member("resumed", report.resumedAt)
        json.member("rows", byName: report.rows) { $0.integer(Int64($1)) }
        json.member("kept", byName: report.kept) { $0.text($1) }
        if isCompared {
            json.member("differing_rows", report.differingRows)
            try json.member("differences", report.differences.map(Difference.init))
        }
        json.member("recorded", recorded)
    }

    /// - `table`, `id`: The row.
    /// - `kind`: `missing`, `extra` or `different`.
    /// - `column`: The first column that differs; null if the whole row does.
    /// - `found`, `expected`: Of a column, the value in the table and that in the log.
    struct Difference: JSONRecord {
        let difference: RebuildReport.Difference

        func write(to json: inout JSONWriter) {
            json.member("table", difference.table)
            json.member("id", difference.id)
            json.member("kind", difference.kind.rawValue)
            json.member("column", difference.column)
            guard difference.kind == .different else { return }
            json.key("found")
            json.value(difference.found ?? .null)
            json.key("expected")
            json.value(difference.expected ?? .null)
        }
    }
}
