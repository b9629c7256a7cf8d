public import StorageEntities

/// Reports changes of single rows to code that isn't a view: caches, badges, synchronisation.
///
/// ```swift
/// let events = try await storage.changeNotifier.events(for: User.self, filter: .affectsFields(["email"]))
/// for await event in events {
///     if case .updated(_, let id, let changes, _) = event { print(id, changes["email"]?.new ?? .null) }
/// }
/// ```
///
/// Every change committed after the call has returned is reported, whatever caused it, in the order of commits; changes
/// that are rolled back never are. A slow reader blocks no writer: pending changes are kept up to a limit, and beyond
/// it one event reports their number.
///
/// It reports net changes and keeps no history: to see each commit, resume after a restart, or start earlier, read
/// `storage.changes(since:)`; for a list on a screen, a `QuerySubscription` does all of this.
public struct SmartChangeNotifier: Sendable {
    /// A reported change.
    public typealias ChangeEvent = StorageViews.ChangeEvent
    /// What is reported.
    public typealias SubscriptionFilter = StorageViews.SubscriptionFilter

    private let engine: SubscriptionEngine

    package init(_ engine: SubscriptionEngine) { self.engine = engine }

    /// The changes of an entity's rows that are committed after this call.
    ///
    /// - Parameters:
    ///   - tableName: The entity's name.
    ///   - limit: The maximum number of events that are kept for a reader, and of events reported row by row for one
    ///     commit; a number below 2 counts as 2.
    /// - Throws: `not-found` for an unknown entity, `invalid-name` for an unknown column, `invalid-argument` for a
    ///   table whose primary key isn't one column, and for a filter by a query of another entity.
    public func events(
        for tableName: String, filter: SubscriptionFilter = .all, limit: Int = 1_000
    ) async throws -> ChangeEventSequence {
        try await engine.events(for: tableName, filter: filter, limit: limit)
    }

    /// The changes of an entity's rows that are committed after this call.
    ///
    /// - Parameter limit: The maximum number of events that are kept for a reader, and of events reported row by row
    ///   for one commit; a number below 2 counts as 2.
    /// - Throws: `invalid-name` for an unknown column, `invalid-argument` for a filter by a query of another entity.
    public func events<Entity: RegisteredEntity>(
        for type: Entity.Type, filter: SubscriptionFilter = .all, limit: Int = 1_000
    ) async throws -> ChangeEventSequence {
        try await events(for: EntityTableCache.of(Entity.Record.self).queryTable.name, filter: filter, limit: limit)
    }
}

extension SubscriptionEngine {
    fileprivate func events(
        for tableName: String, filter: SubscriptionFilter, limit: Int
    ) throws -> ChangeEventSequence {
        let pendingUpdate = PendingUpdate<ChangeEventUpdate>()
        let handle = try add(ChangeEventNode(tableName, filter: filter, limit: limit), pendingUpdate)
        return ChangeEventSequence(position: position, handle: handle, pendingUpdate: pendingUpdate)
    }
}
