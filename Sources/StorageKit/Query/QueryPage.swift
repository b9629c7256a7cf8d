/// A page of a query's result.
///
/// ```swift
/// var page = try await storage.query(User.self).orderBy(\.name).page(size: 50)
/// show(page.items)
/// while let next = page.next {
///     page = try await storage.query(User.self).orderBy(\.name).page(after: next, size: 50)
///     show(page.items)
/// }
/// ```
public struct QueryPage<Item: Sendable>: Sendable {
    /// The rows of the page, in the order of the query.
    public let items: [Item]
    /// The cursor of the next page; nil after the last one.
    public let next: PageCursor?
    /// Whether another page follows.
    public var hasMore: Bool { next != nil }
}
