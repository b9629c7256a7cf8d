public import GRDB
public import StorageCore
public import StorageEntities
internal import StorageLog
public import StorageViews

extension Storage {
    /// Returns a timeline that replays history in live views: they begin at a point and advance through the later changes.
    ///
    /// ```swift
    /// let timeline = try await storage.timeline(from: .time(yesterday))
    /// let page = PaginatedQuerySubscription(timeline.query(Post.self).orderBy(\.createdAt, .descending))
    /// while let commit = try await timeline.stepForward() {
    ///     print(commit.time, page.currentPage.map(\.title))
    /// }
    /// ```
    ///
    /// - Throws: `not-found` for a point that isn't in the log.
    public func timeline(from point: StoragePoint) async throws -> StorageTimeline {
        let position = try await StorageTimeline.position(of: point, in: engine)
        return StorageTimeline(engine, at: position, upcasts: upcasts)
    }
}

extension StorageTimeline {
    /// Returns a query over an entity's rows at the moment that the timeline shows.
    public nonisolated func query<E: RegisteredEntity>(_ type: E.Type) -> TimelineQuery<E> {
        TimelineQuery(timeline: self)
    }
}

/// A query over the moment that a ``StorageTimeline`` shows.
///
/// ```swift
/// let shown = try await timeline.query(Post.self).orderBy(\.createdAt, .descending).limit(20).fetch()
/// ```
public struct TimelineQuery<Entity: RegisteredEntity>: SubscribableQuery {
    /// The conditions, orders and limits.
    public var request = QueryRequest<Entity>()
    let timeline: StorageTimeline

    init(timeline: StorageTimeline) { self.timeline = timeline }

    public var subscriptionSource: SubscriptionSource {
        SubscriptionSource(timeline.subscriptions, timeline.searchIndexes)
    }

    /// - Throws: What `body` throws; ``StorageError`` with `closed`.
    public func reading<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await timeline.reading(EntityTableCache.of(Entity.Record.self).name, body)
    }
}
