internal import StorageCore
internal import StorageEntities
internal import StorageKit
internal import StorageLog

/// Merges the pages of one refresh into the store. A value, so that a commit's body can be repeated.
///
/// Invariants:
/// 1. A row that another writer has changed or deleted after ``start`` isn't touched: the answer may be older than the change.
/// 2. Neither is a row that was waiting to be sent at ``start``: the answer comes from a remote that didn't have it,
///    whatever has happened since.
struct SourceMerge<Element: RegisteredEntity>: Sendable {
    let request: QueryRequest<Element>
    let strategy: QueryMergeStrategy<Element>
    /// The log position at which the request began.
    let start: Int64
    /// The rows that were waiting to be sent then.
    let unsent: UnsentRows
    /// The keys of the fetched rows; nil if no other rows are deleted.
    let fetched: FetchedKeys?
    /// Whether to determine if all fetched rows match the query.
    var watchesWindow = false
    private var fetchedCount = 0
    private var own = OwnPositions()
    /// Whether rows of committed pages were skipped.
    private(set) var hasKeptRows = false
    /// Whether all rows of those pages match the query.
    private(set) var isClosed = true
    let table = EntityTableCache.of(Element.Record.self)

    init(
        request: QueryRequest<Element>, strategy: QueryMergeStrategy<Element>, start: Int64, unsent: UnsentRows
    ) throws {
        self.request = request
        self.strategy = strategy
        self.start = start
        self.unsent = unsent
        fetched = if case .replace = strategy { try FetchedKeys() } else { nil }
    }

    /// Call it with each page before it is saved.
    mutating func note(_ rows: [Element]) throws {
        fetchedCount += rows.count
        try fetched?.insert(rows.lazy.map { Element.Record.key(of: $0.id) })
    }

    /// Call it once a page is committed.
    mutating func note(_ outcome: MergeOutcome) {
        own.append(outcome.positions)
        hasKeptRows = hasKeptRows || outcome.hasKeptRows
        isClosed = isClosed && outcome.isInWindow
    }

    /// Whether no other writer has committed anything since the request began.
    ///
    /// - Parameter begin: The position of the current commit's first event.
    func hasNoOtherCommits(before begin: Int64) -> Bool { begin - 1 - start == own.count }

    /// Saves a page.
    func save(_ rows: [Element], in tx: WriteTransaction) throws -> MergeOutcome {
        let begin = tx.writer.nextPosition
        let isFree = hasNoOtherCommits(before: begin) && unsent.isEmpty
        let commits = FetchedPositions(LogReader(tx.writer.database))
        let window = try watchesWindow ? QueryMembership(request, table) : nil
        var outcome = MergeOutcome(begin: begin)
        for row in rows {
            let key = Element.Record.key(of: row.id)
            guard try isFree || !isKept(key, last: lastPosition(of: key, in: tx), before: begin, commits) else {
                outcome.hasKeptRows = true
                continue
            }
            try save(row, in: tx)
            if outcome.isInWindow { outcome.isInWindow = try window?.contains(key, tx.database) ?? true }
        }
        outcome.end = tx.writer.nextPosition
        return outcome
    }

    private func save(_ row: Element, in tx: WriteTransaction) throws {
        switch strategy {
        case .replace, .upsert: try tx.save(row)
        case .append: if try tx.get(Element.self, id: row.id) == nil { try tx.save(row) }
        case .custom(let resolve):
            if let resolved = resolve(try tx.get(Element.self, id: row.id), row) { try tx.save(resolved) }
        }
    }

    /// The position of a row's last event, which may be its deletion.
    private func lastPosition(of key: StorageValue, in tx: WriteTransaction) throws -> Int64? {
        if let position = try table.position(of: key, with: tx.writer) { return position }
        guard let entity = tx.writer.catalog.entity(named: table.name) else { return nil }
        return try LogReader(tx.writer.database).recordedRow(equalTo: [key], in: entity).last
    }

    /// Whether a row must not be touched.
    ///
    /// - Parameter begin: The position of the current commit's first event.
    private func isKept(
        _ key: StorageValue, last: Int64?, before begin: Int64, _ commits: FetchedPositions
    ) throws -> Bool {
        guard let last, last < begin, !own.contains(last) else { return false }
        return try last > start || unsent.contains(key, last: last, isFetched: commits.includes)
    }
}

/// The result of merging rows.
struct MergeOutcome: Sendable {
    /// The events of the merge.
    let begin: Int64
    var end: Int64
    /// Whether rows were skipped, because another writer has changed them or they are waiting to be sent.
    var hasKeptRows = false
    /// Whether all fetched rows match the query, if that was to be determined.
    var isInWindow = true

    init(begin: Int64) { (self.begin, end) = (begin, begin) }

    var positions: Range<Int64> { begin..<max(begin, end) }
}

// MARK: Deleting

extension SourceMerge {
    /// Deletes rows of the query that weren't fetched, after the last page.
    ///
    /// - Returns: Whether some of them were skipped.
    func deleteMissing(in tx: WriteTransaction) throws -> Bool {
        guard let fetched else { return false }
        let begin = tx.writer.nextPosition
        try findMissing(fetched, in: tx)
        let commits = FetchedPositions(LogReader(tx.writer.database))
        var hasKept = false
        try fetched.forEachMissing { key in
            // Never nil: the row was found just now.
            let last = try table.position(of: key, with: tx.writer)
            if try isKept(key, last: last, before: begin, commits) {
                hasKept = true
            } else {
                try table.delete(key, with: tx.writer)
            }
        }
        return hasKept
    }

    /// Looks for the query's rows that weren't fetched, as far as the answer covers them: with a limit or an offset, it
    /// doesn't cover rows that sort after the last one or before the first one.
    private func findMissing(_ fetched: FetchedKeys, in tx: WriteTransaction) throws {
        var rows = request.rows
        let isCut = rows.limit.map { fetchedCount >= $0 } ?? false
        let skips = rows.offset > 0
        (rows.limit, rows.offset) = (nil, 0)
        let query = try QuerySQL(rows, of: table.queryTable)
        // Without a limit or offset, the order is irrelevant, and sorting takes time.
        let isOrdered = isCut || skips
        let keyIndex = table.queryTable.key.first ?? 0
        let text = try isOrdered ? query.select(limit: nil) : query.aggregate(quoted(table.keyColumn))
        try fetched.findMissing(isCut: isCut, skips: skips) { visit in
            try text.run(tx.database) { found in
                while try found.next() { try visit(found.row.value(at: isOrdered ? Int32(keyIndex) : 0)) }
            }
        }
    }
}

// MARK: Others

extension SourceMerge {
    /// Whether another writer has changed rows of the entity since the request began.
    ///
    /// - Parameter begin: The position of the current commit's first event.
    func hasOthersChanges(before begin: Int64, in tx: WriteTransaction) throws -> Bool {
        guard !hasNoOtherCommits(before: begin) else { return false }
        var query = LogQuery(tables: [table.name])
        query.positions = (start + 1)...Int64.max
        var hasChanges = false
        try LogReader(tx.writer.database).forEachEvent(query, catalog: tx.writer.catalog) { batch, index, _ in
            hasChanges = !own.contains(batch.positions.lowerBound + Int64(index))
            return !hasChanges
        }
        return hasChanges
    }
}
