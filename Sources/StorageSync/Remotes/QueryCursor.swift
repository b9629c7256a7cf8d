/// The beginning or end of a ``QueryBuilder``'s result: values of the fields that it is ordered by.
public struct QueryCursor: Sendable, Equatable {
    /// A value for each `order(by:)` of the query, in their order. Trailing ones may be omitted.
    public let values: [any DMCodableSendable]

    /// Creates a cursor from values of the query's orders.
    public init(values: [any DMCodableSendable]) { self.values = values }

    /// Whether both cursors are the same: values are compared as JSON.
    public static func == (left: QueryCursor, right: QueryCursor) -> Bool {
        left.values.count == right.values.count && zip(left.values, right.values).allSatisfy { haveSameJSON($0, $1) }
    }
}
