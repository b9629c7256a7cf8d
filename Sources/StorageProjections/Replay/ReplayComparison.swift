public import StorageLog

/// A comparison of what two versions of a projection derive from the same history.
///
/// ```swift
/// let comparison = try await storage.compareReplay(old: OrderTotals(), new: OrderTotals2())
/// if !comparison.isEqual {
///     for difference in comparison.differences { print(difference) }
/// }
/// ```
public struct ReplayComparison: Sendable {
    /// Where the two began to differ.
    public struct Divergence: Sendable, Hashable {
        /// The first event after which they differ.
        public let position: Int64
        /// The event's commit; nil if they differ from the very beginning.
        public let commit: CommitInfo?
        /// Whether they differed already at the start of the range; ``position`` is that start then.
        public let isBeforeRange: Bool
    }

    /// The position after which they were compared.
    public let from: Int64
    /// The last position that was compared.
    public let to: Int64
    /// The number of events in the range that either of them reads.
    public let events: Int
    /// Where they began to differ; nil if they never did, or if only virtual tables differ, for which SQLite doesn't
    /// report single changes.
    public let divergence: Divergence?
    /// The rows that differ in the end, ordered by table name and key: each is a change from the old version's content
    /// to the new version's. No more than were requested.
    public let differences: [RowDifference]
    /// How many rows differ in the end.
    public let differingRows: Int
    /// Tables, and columns as `table.column`, that only one of them has; they aren't compared.
    public let onlyOld: [String]
    /// What only the new version has; it isn't compared.
    public let onlyNew: [String]

    /// Whether both versions have the same tables and columns, and the same rows from the start of the range to its end.
    public var isEqual: Bool {
        divergence == nil && differingRows == 0 && onlyOld.isEmpty && onlyNew.isEmpty
    }
}

extension ReplayComparison: CustomStringConvertible {
    /// What was compared, and what differs: `@0..@140, 120 events: equal`, or a line for each row that differs.
    public var description: String {
        let compared = "@\(from)..@\(to), \(ChangeText.number(events, "event")): "
        guard !isEqual else { return compared + "equal" }
        let only = [("old", onlyOld), ("new", onlyNew)].filter { !$0.1.isEmpty }
            .map { "only in the \($0): \($1.joined(separator: ", "))" }
        let rows = ChangeText.number(differingRows, "row") + (differingRows == 1 ? " differs" : " differ")
        let parts = [divergence.map { "differ \($0)" }, differingRows > 0 ? rows : nil]
        let first = compared + (parts.compactMap { $0 } + only).joined(separator: ", ")
        let left = differingRows - differences.count
        return
            ([first] + differences.map { "  \($0)" } + (left > 0 && !differences.isEmpty ? ["  and \(left) more"] : []))
            .joined(separator: "\n")
    }
}

extension ReplayComparison.Divergence: CustomStringConvertible {
    /// `since @101 (t:12)`, or `before @100`
    public var description: String {
        isBeforeRange ? "before @\(position)" : "since @\(position)" + (commit.map { " (t:\($0.number))" } ?? "")
    }
}
