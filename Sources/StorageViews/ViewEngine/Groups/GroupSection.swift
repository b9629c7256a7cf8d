/// One group of a ``GroupedQuerySubscription``.
///
/// ```swift
/// for try await sections in storage.query(Order.self).liveGroups(by: \.status).snapshots {
///     for section in sections { print(section.key, section.items.map(\.id), section.count) }
/// }
/// ```
public struct GroupSection<Key: Hashable & Sendable, Item: Sendable>: Sendable, Identifiable {
    /// The key of the group.
    public let key: Key
    /// The rows that are shown, in the query's order.
    public internal(set) var items: [Item]
    /// The number of its rows, including those that aren't shown.
    public internal(set) var count: Int

    /// The key of the group.
    public var id: Key { key }
}

extension GroupSection: Equatable where Item: Equatable {}
extension GroupSection: Hashable where Item: Hashable {}
/// ```json
/// {"key": KEY, "items": [ITEM, …], "count": 12}
/// ```
extension GroupSection: Codable where Key: Codable, Item: Codable {}
