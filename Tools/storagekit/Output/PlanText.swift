import StorageKit

/// Row changes that are about to be made, for people.
enum PlanText {
    /// The maximum number of rows to print; the rest is counted.
    static let rowLimit = 20

    /// The first rows, each with its columns.
    ///
    /// - Parameters:
    ///   - count: The total number of rows, of which `rows` are the first.
    ///   - limit: The maximum number to show.
    static func lines(_ rows: [RowDifference], of count: Int, limit: Int = rowLimit) -> [StyledLine] {
        var lines = rows.prefix(limit).flatMap { [$0.changeLine(indent: 0)] + $0.columnLines(indent: 4) }
        let hidden = count - min(rows.count, limit)
        if hidden > 0 { lines.append(StyledLine("… and \(NumberText.grouped(hidden)) more", .dim)) }
        return lines
    }

    static func write(_ rows: [RowDifference], of count: Int, to output: ResultOutput) throws {
        for line in lines(rows, of: count) { try output.line(line) }
    }

    /// `t:13: 1 row updated.`
    static func done(_ summary: String, in commit: Int64) -> StyledLine {
        var line = StyledLine(.commit(commit), .added)
        line.add(": \(summary).", .added)
        return line
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
