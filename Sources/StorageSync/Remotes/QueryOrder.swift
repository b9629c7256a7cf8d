/// A field that a ``QueryBuilder`` sorts documents by.
public struct QueryOrder: Sendable, Equatable {
    /// The field's name, as in the document's JSON; dots lead into nested objects.
    public let field: String
    /// Whether the greatest value comes first.
    public let descending: Bool

    /// Creates an order.
    public init(field: String, descending: Bool = false) {
        self.field = field
        self.descending = descending
    }
}
