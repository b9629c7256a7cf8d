extension StoreHub {
    /// Follows the documents that match a query, by the same rules.
    ///
    /// - Parameter point: The last event of an earlier feed that the follower has received.
    /// - Throws: ``HubError/forbidden``; ``HubError/invalid(_:)`` for a query that can't be answered. What the first read
    ///   finds is thrown by ``HubFeed/next(within:)``.
    package func follow(
        _ entity: String, matching query: QueryBuilder, after point: HubResumePoint? = nil, as access: HubAccess
    ) throws -> HubFeed { try HubFeed(of: entity, matching: query, after: point, as: access, in: self) }
}
