import StorageKit

/// Row changes that are about to be made, for people.
enum PlanText {
    /// So many rows are printed; the rest is counted.
    private static let rowLimit = 20

    /// Writes the first rows, each with its columns.
    ///
    /// - Parameter count: How many rows there are, of which `rows` are the first.
    static func write(_ rows: [RowDifference], of count: Int, to output: ResultOutput) throws {
        for row in rows.prefix(rowLimit) {
            try output.line(row.changeLine(indent: 0))
            for line in row.columnLines(indent: 4) { try output.line(line) }
        }
        let hidden = count - rowLimit
        if hidden > 0 { try output.line("… and \(NumberText.grouped(hidden)) more", .dim) }
    }

    static func summary(of outcome: RevertOutcome) -> String {
        summary(inserted: outcome.inserted, updated: outcome.updated, deleted: outcome.deleted)
    }

    /// `1 row inserted, 2 rows updated`
    static func summary(inserted: Int, updated: Int, deleted: Int) -> String {
        let parts = [
            (inserted, "row inserted", "rows inserted"), (updated, "row updated", "rows updated"),
            (deleted, "row deleted", "rows deleted"),
        ]
        return parts.filter { $0.0 > 0 }.map { NumberText.count($0, $1, plural: $2) }.joined(separator: ", ")
    }
}
