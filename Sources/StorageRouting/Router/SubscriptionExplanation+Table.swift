extension SubscriptionExplanation {
    /// The purpose for which a query reads a table.
    public enum Purpose: String, Sendable {
        /// The rows that the query finds.
        case rows
        /// Related rows, at least one of which must exist.
        case has
        /// Related rows, none of which may exist.
        case hasNo
        /// Related rows that are read along with those that the query finds.
        case include
        /// Related rows that are counted or summed up for each of those that the query finds.
        case aggregate
        /// Rows that a condition in SQL of your own reads.
        case condition
    }

    /// How changes of a table reach a query.
    public struct Table: Sendable, Hashable {
        /// The table's name.
        public let name: String
        /// The purpose for which the query reads it.
        public package(set) var purpose = Purpose.rows
        /// The columns by which rows are related, such as `novelistId = id`: first this table's column, then that of
        /// the rows that its rows are related to. Nil for the query's own rows.
        public package(set) var relation: String?
        /// How changes of the table find the query.
        public let tier: Tier
        /// The parts of the condition by which changes find the query, such as `status =`, or
        /// `novelistId among 20 values` if the values are those of rows that the query holds. For ``Tier/tracked`` SQL,
        /// the columns that it has read, or `*` if every column counts.
        public let anchors: [String]
        /// Why the query runs again after a change that reaches it; nil if the change is applied to the result.
        public package(set) var rerunReason: String?
        /// How many subscriptions have the same condition.
        public let sharedBy: Int
        /// How often a change was compared with the condition.
        public let candidateCount: Int
        /// How often the condition was evaluated.
        public let evaluations: Int
        /// How often a change of the table woke the query.
        public let wakeups: Int
        /// The position of the last change that woke the query.
        public let lastPosition: Int64
        /// What that change did to the rows that meet the condition.
        public let lastEffect: SubscriptionEffect?

        static let everyColumn = "*"
    }
}

extension SubscriptionExplanation.Table {
    /// A table that SQL has read.
    ///
    /// - Parameters:
    ///   - columns: The columns that it has read; nil if every column counts.
    ///   - isLogged: Whether the table's changes are in the log.
    package static func tracked(_ name: String, columns: [String]?, isLogged: Bool) -> SubscriptionExplanation.Table {
        SubscriptionExplanation.Table(
            name: name, tier: .tracked, anchors: columns.map { $0.sorted() } ?? [everyColumn],
            rerunReason: isLogged
                ? "only SQLite knows what SQL of your own finds"
                : "its changes aren't in the log, so every commit may have changed it",
            sharedBy: 1, candidateCount: 0, evaluations: 0, wakeups: 0, lastPosition: 0, lastEffect: nil)
    }
}

extension SubscriptionExplanation.Table: CustomStringConvertible {
    /// One line: `novels (include, novelistId = id): found by novelistId among 20 values`.
    public var description: String {
        var text = name
        if let relation { text += " (\(purpose), \(relation))" }
        text += ": \(access)"
        if let rerunReason { text += "; runs again, because \(rerunReason)" }
        if wakeups > 0 { text += "; woken \(wakeups) \(wakeups == 1 ? "time" : "times")" }
        return text
    }

    /// Which changes reach the query.
    private var access: String {
        switch tier {
        case .indexed: anchors.isEmpty ? "no change counts" : "found by \(anchors.joined(separator: ", "))"
        case .evaluated: "every change is looked at"
        case .opaque: anchors.isEmpty ? "every change is looked at" : "found by \(anchors.joined(separator: ", "))"
        case .tracked where anchors == [Self.everyColumn]: "every change counts"
        case .tracked where anchors.isEmpty: "inserted and deleted rows count"
        case .tracked: "changes of \(anchors.joined(separator: ", ")) count"
        }
    }
}
