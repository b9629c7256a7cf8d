/// A page of a query's result.
public struct QueryPage<Item: Sendable>: Sendable {
    /// The rows of the page, in the order of the query.
    public let items: [Item]
    /// The cursor of the next page; nil after the last one.
    public let next: PageCursor?
    /// Whether another page follows.
    public var hasMore: Bool { next != nil }
}
