/// Where the result of a ``QueryBuilder`` begins or ends: values of the fields that it is ordered by.
public struct QueryCursor: Sendable, Equatable {
    /// A value for each `order(by:)` of the query, in their order. The last ones may be left out.
    public let values: [any DMCodableSendable]

    public init(values: [any DMCodableSendable]) { self.values = values }

    /// Whether both are the same place: values are compared as JSON.
    public static func == (left: QueryCursor, right: QueryCursor) -> Bool {
        left.values.count == right.values.count && zip(left.values, right.values).allSatisfy { haveSameJSON($0, $1) }
    }
}
