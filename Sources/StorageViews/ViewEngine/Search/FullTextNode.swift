internal import StorageCore
package import StorageEntities
internal import StorageHistory
internal import StorageRecords
package import StorageRouting

/// The best results of a full-text search, kept up to date.
///
/// The router knows from a row's words which changes concern it. Where a row comes to fit or fits no more, or its texts
/// are others, the search is run again, because one row more or less moves the rank of every other; a search that takes
/// long is run again at most for a tenth of the time, the last state always being shown in the end. Where only other
/// columns have changed, the row is put in the place of the old one.
///
/// Where rows have changed that don't fit, the ranks are those from before: BM25 counts all documents, so they would be
/// a little different. They are right again with the next search.
///
/// Of an expression in FTS5's own syntax only the index knows what fits: there each change of texts counts.
package final class FullTextNode<Entity: RegisteredEntity>: SteppedNode {
    package var pendingUpdate: PendingUpdate<ListUpdate<SearchResult<Entity>>>?
    private let search: Search<Entity>
    private let form = RowForm(Entity.self)
    /// What the router finds it by; nil where only the index knows.
    private var expression: SearchExpression?
    private var texts = ColumnMask.all
    private var keyIndex = 0

    private var results: [SearchResult<Entity>] = []
    /// Where the rows stand among the results, by their keys.
    private var indices: [StorageValue: Int] = [:]
    private var total = 0
    private var position: Int64 = 0
    /// Whether there are other results than those that were published; if not, which of them have changed.
    private var isWhole = false
    private var changes: [ListChange<SearchResult<Entity>>] = []

    private var isLive = false
    private var isDirty = false
    /// Whether changes don't say how many rows fit.
    private var needsTotal = true
    /// When it was run last, and how long it took.
    private var ended = ContinuousClock.now
    private var duration = Duration.zero
    /// Searches that are quicker than this are run at every change.
    private static var quick: Duration { .milliseconds(2) }
    /// How many times as long as it took a search rests: it takes a tenth of the time.
    private static var restFactor: Int { 9 }

    package init(_ search: Search<Entity>) { self.search = search }

    package var ownInterests: [Interest] {
        [
            Interest(
                entity: form.table.name, predicate: search.condition, searches: true, matching: expression,
                rerunReason: "a row whose texts change moves the rank of every other")
        ]
    }

    package private(set) lazy var membership = RelatedMembership(
        of: RowRequest(predicate: search.condition, relations: search.relations), in: form.table)

    package func bind(to layouts: [RowLayout]) throws {
        let layout = layouts[0]
        expression = layout.texts.flatMap { search.expression(tokenizer: $0.index.tokenizer) }
        texts = layout.texts?.columns ?? .all
        keyIndex = layout.keyIndices.first ?? 0
        isLive = false
    }

    package func reload(_ snapshot: Snapshot) throws {
        isLive = false
        try run(snapshot)
        isLive = true
    }

    private func run(_ snapshot: Snapshot) throws {
        let start = ContinuousClock.now
        snapshot.statementCount += 1
        results = try search.run(snapshot.rows)
        indices = [:]
        for (index, result) in results.enumerated() { indices[Entity.Record.key(of: result.entity.id)] = index }
        if !isLive || needsTotal {
            snapshot.statementCount += 1
            total = try search.count(snapshot.rows)
        }
        isWhole = true
        changes = []
        (isDirty, needsTotal) = (false, expression == nil)
        ended = .now
        duration = ended - start
    }

    package func apply(_ change: ChangedRow, in snapshot: Snapshot) throws {
        guard isLive else { throw StaleNode() }
        switch change.effect {
        // Only the index knows whether the row fits the text.
        case _ where change.isUnchanged: needsTotal = true
        case .enter: total += 1
        case .leave: total -= 1
        case .stay where !change.change.changed.intersects(texts): return try replace(change, snapshot)
        default: break
        }
        isDirty = true
    }

    /// Another state of a row whose rank is the same.
    private func replace(_ change: ChangedRow, _ snapshot: Snapshot) throws {
        guard !isDirty, let key = change.value(keyIndex, .new)?.value(), let index = indices[key] else { return }
        let old = results[index]
        results[index] = SearchResult(entity: try snapshot.item(form, change), rank: old.rank, snippet: old.snippet)
        changes.append(.update(results[index], at: index))
    }

    package func finishStep(_ snapshot: Snapshot) throws {
        guard let seconds = postponedSeconds, seconds == 0 || snapshot.isUrgent else { return }
        try run(snapshot)
    }

    package var postponedSeconds: Double? {
        guard isDirty else { return nil }
        guard duration > Self.quick else { return 0 }
        return max(0, (ended + duration * Self.restFactor - .now) / .seconds(1))
    }

    package func takeUpdate(at position: Int64) -> ListUpdate<SearchResult<Entity>>? {
        guard isWhole || !changes.isEmpty else { return nil }
        self.position = position
        var update = header
        if isWhole { update.whole = results } else { update.changes = changes }
        (isWhole, changes) = (false, [])
        return update
    }

    package func invalidate() { isLive = false }

    package var header: ListUpdate<SearchResult<Entity>> {
        var update = ListUpdate<SearchResult<Entity>>()
        (update.position, update.total) = (position, total)
        return update
    }

    package var whole: [SearchResult<Entity>] { results }

    package var rowCount: Int { results.count }
}
