/// How changes reach a live query: table by table, whether it applies them or runs again, and what slows it down.
///
/// ```swift
/// if let explanation = try await directors.live().explain() { print(explanation) }
/// ```
///
/// prints, for the directors of a country with their films:
///
/// ```
/// incremental
///   directors: found by country =
///   films (include, directorId = id): found by directorId among 12 values
/// ```
///
/// The description is for reading: its words may change between versions.
public struct SubscriptionExplanation: Sendable, Hashable {
    /// How changes find a subscription.
    public enum Tier: String, Sendable {
        /// Found by a part of its condition.
        case indexed
        /// Evaluated on every change of its entity that touches its columns.
        case evaluated
        /// Contains custom SQL; only the database knows whether a change affects it.
        case opaque
        /// SQL that runs again when a table or column that it has read has changed.
        case tracked
    }

    /// How changes of each table reach the query: first its own table, then those of related rows. A table that it
    /// reads for several purposes is listed once for each.
    public let tables: [Table]
    /// How changes of the query's own rows find it: the tier of the first of the ``tables``.
    public let tier: Tier
    /// The parts of the condition that the query's own rows are found by, such as `status =`, `age between`, `name like a…`;
    /// for ``Tier/tracked`` SQL the columns that it has read, such as `users.name`, and the tables that it has read as a whole.
    public let anchors: [String]
    /// For ``Tier/tracked`` SQL, the condition on rows, such as `age >= 18`: changes of other rows don't run it again.
    /// Nil if every row counts, and for other tiers.
    public let rowCondition: String?
    /// What makes changes slow: columns by which rows of another table are looked up, but with which no index begins,
    /// so that all rows of that table are read.
    public let warnings: [String]

    /// How changes of each table reach a query.
    ///
    /// - Parameter tables: At least that of the query's own rows.
    package init?(_ tables: [Table], warnings: [String]) {
        guard let own = tables.first else { return nil }
        (self.tables, tier, anchors, rowCondition, self.warnings) = (tables, own.tier, own.anchors, nil, warnings)
    }

    /// An explanation of SQL that runs again.
    package init(tracking tables: [Table], rows condition: String?) {
        self.tables = tables.sorted { $0.name < $1.name }
        (tier, rowCondition, warnings) = (.tracked, condition, [])
        anchors = tables.flatMap { table in
            table.anchors == [Table.everyColumn] ? [table.name] : table.anchors.map { "\(table.name).\($0)" }
        }.sorted()
    }

    /// Whether the query applies all changes to its result, and never runs again for one.
    ///
    /// More than 20,000 events at once make every query run again.
    public var isIncremental: Bool { tables.allSatisfy { $0.rerunReason == nil } && tier != .tracked }

    /// How many subscriptions have the same condition on the query's own rows.
    public var sharedBy: Int { tables.first?.sharedBy ?? 1 }
    /// How often a change was compared with the query.
    public var candidateCount: Int { tables.reduce(0) { $0 + $1.candidateCount } }
    /// How often a condition was evaluated.
    public var evaluations: Int { tables.reduce(0) { $0 + $1.evaluations } }
    /// How often a change woke the query.
    public var wakeups: Int { tables.reduce(0) { $0 + $1.wakeups } }
    /// The position of the last change that woke the query.
    public var lastPosition: Int64 { tables.map(\.lastPosition).max() ?? 0 }
    /// What that change did to the rows that the query reads.
    public var lastEffect: SubscriptionEffect? { tables.max { $0.lastPosition < $1.lastPosition }?.lastEffect }
}

extension SubscriptionExplanation: CustomStringConvertible {
    /// A line for the whole, one for each table, and one for each warning.
    public var description: String {
        var lines = [isIncremental ? "incremental" : "runs again after some changes"]
        lines += tables.map { "  \($0)" }
        if let rowCondition { lines.append("  of rows only those where \(rowCondition)") }
        lines += warnings.map { "warning: \($0)" }
        return lines.joined(separator: "\n")
    }
}
