package import StorageCore
internal import StorageLog
package import StorageProjections

/// The best results of a full-text search, kept up to date.
///
/// It knows which rows fit. A changed row is looked up in the index alone: where it neither fitted nor fits, nothing
/// happens. Otherwise the search is run again, because one row more or less moves the rank of every other; a search that
/// takes long is run again at most for a tenth of the time, the last state always being shown in the end.
///
/// Where rows have changed that don't fit, the ranks are those from before: BM25 counts all documents, so they would be
/// a little different. They are right again with the next search.
package final class FullTextNode<Entity: RegisteredEntity>: LiveNode {
    private let search: Search<Entity>
    /// The numbers of all rows that fit; nil where there are too many to know.
    private var places: Set<Int64>?
    private var isDirty = false
    private var isLive = false
    private var news = ListUpdate<SearchResult<Entity>>()
    private var hasNews = false
    private var last = ListUpdate<SearchResult<Entity>>()
    package var outlet: Outlet<ListUpdate<SearchResult<Entity>>>?
    /// When it was run last, and how long it took.
    private var ended = ContinuousClock.now
    private var duration = Duration.zero
    private static var placeLimit: Int { 200_000 }
    /// Searches that are quicker than this are run at every change.
    private static var quick: Duration { .milliseconds(2) }

    package init(_ search: Search<Entity>) { self.search = search }

    package var interest: Interest {
        Interest(entity: EntityTables.of(Entity.Record.self).name, predicate: search.condition, searches: true)
    }

    package func lay(_ layout: RowLayout) throws { isLive = false }

    package func hydrate(_ snapshot: Snapshot) throws {
        let start = ContinuousClock.now
        snapshot.statementCount += 2
        let found = try search.run(snapshot.rows)
        let places = try search.places(snapshot.rows, limit: Self.placeLimit + 1)
        let knowsAll = places.count <= Self.placeLimit
        self.places = knowsAll ? places : nil
        news = ListUpdate()
        news.whole = found
        news.total = knowsAll ? places.count : try search.count(snapshot.rows)
        hasNews = true
        isDirty = false
        isLive = true
        ended = .now
        duration = ended - start
    }

    package func apply(_ change: ChangedRow, _ effect: SubscriptionEffect, _ snapshot: Snapshot) throws {
        guard isLive else { throw StaleNode() }
        guard !isDirty else { return }
        // More than one event of a row may mean another number, which nobody has kept.
        guard let places, change.change.eventCount == 1, let place = try place(of: change, snapshot) else {
            isDirty = true
            return
        }
        isDirty = places.contains(place)
        if !isDirty, change.change.exists {
            snapshot.statementCount += 1
            isDirty = try search.finds(place, snapshot.rows)
        }
    }

    /// The number of a changed row. The log doesn't hold it: it is known while a commit is fresh, and as long as the row
    /// is there.
    private func place(of change: ChangedRow, _ snapshot: Snapshot) throws -> Int64? {
        if change.change.rowid != 0 { return change.change.rowid }
        guard change.change.exists else { return nil }
        let shape = EntityTables.of(Entity.Record.self).shape
        let key = condition(binding: shape.key.map { shape.columns[$0].stored })
        let sql = "SELECT \(try search.rowNumber(snapshot.rows)) FROM \(quoted(shape.stored)) WHERE \(key)"
        return try snapshot.integer(sql, of: change)
    }

    package func settle(_ snapshot: Snapshot) throws {
        guard let seconds = postponedSeconds, seconds == 0 || snapshot.isUrgent else { return }
        try hydrate(snapshot)
    }

    package var postponedSeconds: Double? {
        guard isDirty else { return nil }
        guard duration > Self.quick else { return 0 }
        return max(0, (ended + duration * 9 - .now) / .seconds(1))
    }

    package func publish(at position: Int64) -> Delivery? {
        guard hasNews else { return nil }
        hasNews = false
        news.position = position
        last = news
        let update = news
        return outlet?.tell(update, limit: .max) { update }
    }

    package func fail(_ error: StorageError) -> Delivery? {
        isLive = false
        var update = last
        update.whole = nil
        update.error = error
        return outlet?.tell(update, limit: .max) { update }
    }
}
