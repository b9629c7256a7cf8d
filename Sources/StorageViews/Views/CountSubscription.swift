internal import StorageCore
public import StorageEntities

/// How many rows a query finds, live.
///
/// ```swift
/// let unread = CountSubscription(storage.query(Message.self).where { $0.isRead == false })
/// print(unread.count)
/// ```
///
/// A commit costs it what the changed rows cost. Where the query has a limit or an offset, the rows in that window are
/// counted, by asking the database at each change of the rows that the query would find without them.
@MainActor
public final class CountSubscription<Entity: RegisteredEntity>: AggregationSubscription<Entity, Int> {
    /// How many rows there are; zero until they were counted, see ``StorageSubscription/isLoading``.
    public var count: Int { value }

    package init(_ engine: SubscriptionEngine, _ request: QueryRequest<Entity>, start: SubscriptionStart) {
        super.init(engine, request, reading: AggregateReading(Aggregate<Entity, Int>.count), start: start)
    }
}
