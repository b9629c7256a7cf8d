internal import StorageCore
public import StorageEntities

/// How many rows a query finds, live.
///
/// ```swift
/// let unread = CountSubscription(storage.query(Message.self).where { $0.isRead == false })
/// print(unread.count)
/// ```
///
/// A commit costs as much as its changed rows. If the query has a limit or an offset, only the rows in that window are
/// counted, and each change of the rows that the query would find without them costs a query.
@MainActor
public final class CountSubscription<Entity: RegisteredEntity>: AggregationSubscription<Entity, Int> {
    /// The number of rows; zero until they have been counted, see ``StorageSubscription/isLoading``.
    public var count: Int { value }

    package init(_ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, start: SubscriptionStart) {
        super.init(engine, request, reading: AggregateReading(Aggregate<Entity, Int>.count), start: start)
    }
}
