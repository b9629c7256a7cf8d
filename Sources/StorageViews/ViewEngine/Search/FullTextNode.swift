internal import StorageCore
package import StorageEntities
internal import StorageHistory
internal import StorageRecords
package import StorageRouting

/// The best results of a full-text search, kept up to date.
///
/// The router determines from a row's words which changes affect it. If a row starts or stops matching, or its texts
/// change, the search is run again, because each row affects the rank of every other. A slow search takes at most a
/// tenth of the time, and the last state is always shown in the end. If only other columns have changed, the new row
/// replaces the old one.
///
/// If only rows that don't match have changed, the ranks are those of the last search: BM25 counts all documents, so
/// they would differ slightly. The next search corrects them.
///
/// An expression in FTS5's own syntax can be evaluated only by the index: with it, each change of texts runs the search
/// again.
package final class FullTextNode<Entity: RegisteredEntity>: SteppedNode {
    package var pendingUpdate: PendingUpdate<ListUpdate<SearchResult<Entity>>>?
    private let search: Search<Entity>
    private let form = RowForm(Entity.self)
    /// The expression that the router evaluates; nil if only the index can.
    private var expression: SearchExpression?
    private var texts = ColumnMask.all
    private var keyIndex = 0

    private var results: [SearchResult<Entity>] = []
    /// The indices of the rows in the results, by their keys.
    private var indices: [StorageValue: Int] = [:]
    private var total = 0
    private var position: Int64 = 0
    /// Whether the results differ as a whole from those that were published; if not, `changes` lists the changed ones.
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
    /// The pause after a search, as a multiple of its duration: it takes a tenth of the time.
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

    /// The ranks, and with them the order, are those of the last search.
    package var isDeterminedByRows: Bool { false }

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

    /// Replaces a result by the row's new version, with the same rank.
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
