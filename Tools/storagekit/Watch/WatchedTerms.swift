import Foundation
import StorageKit

/// The aggregates that `watch --aggregate` shows: `count, sum(total), max(total)`.
struct WatchedTerms {
    let terms: [AggregateTerm]
    private let names: [String]

    private static let functions: [(name: String, function: AggregateTerm.Function)] = [
        ("count", .count), ("distinct", .distinctCount), ("sum", .sum), ("avg", .average), ("min", .minimum),
        ("max", .maximum),
    ]

    /// - Parameter noColumn: The error for an unknown column.
    init(_ text: String, _ columns: [String], noColumn: (String) -> CommandError) throws {
        names = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        terms = try names.map { name in
            let parts = name.split(separator: "(", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            let known = Self.functions.first { $0.name == parts.first?.lowercased() }?.function
            guard let function = known, function == .count || parts.count == 2, parts.count < 2 || name.hasSuffix(")")
            else {
                throw CommandError(
                    .usage, "\"\(name)\" isn't an aggregate.",
                    next: "Use count, count(x), distinct(x), sum(x), avg(x), min(x) or max(x), separated by commas.")
            }
            guard parts.count == 2 else { return AggregateTerm(function) }
            let column = String(parts[1].dropLast()).trimmingCharacters(in: .whitespaces)
            if function == .count, column == "*" { return AggregateTerm(.count) }
            guard columns.contains(column) else { throw noColumn(column) }
            return AggregateTerm(function, column)
        }
        guard !terms.isEmpty else {
            throw CommandError(.usage, "--aggregate is empty.", next: "--aggregate count")
        }
    }

    /// Returns the terms as columns: minimum and maximum are shown like their column.
    func columns(_ all: [WatchedRows.Column]) -> [WatchedRows.Column] {
        zip(names, terms).map { name, term in
            let isValue = term.function == .minimum || term.function == .maximum
            let column = isValue ? all.first { $0.name == term.column } : nil
            return WatchedRows.Column(name: name, type: column?.type ?? "", coding: column?.coding ?? "")
        }
    }
}
