/// The direction of a sort.
public enum RowOrder: Sendable, Hashable {
    /// The smallest value comes first.
    case ascending
    /// The greatest value comes first.
    case descending
}

/// A column to sort rows by. In ascending order NULL comes first, then numbers, texts and blobs.
public struct RowOrdering: Sendable, Hashable {
    /// The column to sort by.
    public let column: String
    /// The direction.
    public let order: RowOrder
    /// How texts are compared; nil for the column's own collation.
    public let collation: RowPredicate.Collation?

    /// Creates an ordering by a column.
    public init(_ column: String, _ order: RowOrder = .ascending, collation: RowPredicate.Collation? = nil) {
        self.column = column
        self.order = order
        self.collation = collation
    }

    package func sql(_ name: (String) throws -> String) throws -> String {
        let collated = collation.map { " COLLATE \($0.rawValue)" } ?? ""
        return "\(try name(column))\(collated)\(order == .ascending ? "" : " DESC")"
    }
}
