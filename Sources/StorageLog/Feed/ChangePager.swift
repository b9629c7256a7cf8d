internal import StorageCore

/// Divides the log into pages of changes.
///
/// A value that is passed through as many reads of the store as a page takes, so that no read lasts long, however much of the log
/// doesn't match.
struct ChangePager {
    private let start: ChangeToken
    private let query: LogQuery
    private let limit: Int
    /// All events up to here are in `commits`, in `current`, or don't match.
    private(set) var reached: LogHead
    private var lineage: StoreLineage?
    private var commits: [CommitChanges] = []
    private var count = 0
    /// The current commit, with its matching events so far.
    private var current: Commit?
    private var isFull = false
    /// The number of segments that one read decodes.
    private static let rowsPerRead = 64

    private struct Commit {
        let info: CommitInfo
        var events: [StorageEvent] = []
        /// The last position that is known to be the commit's.
        var head: LogHead
    }

    init(after start: ChangeToken, matching query: LogQuery, limit: Int) {
        self.start = start
        self.query = query
        self.limit = limit
        reached = LogHead(position: start.position, commit: start.commit, time: start.time)
    }

    /// Continues reading.
    ///
    /// - Returns: The page, or nil if another read has to follow.
    mutating func read(_ reader: LogReader) throws -> ChangePage? {
        let head = try reader.head()
        // A store doesn't change its lineage while it is open.
        let lineage = try lineage ?? StoreLineage.load(reader.database)
        self.lineage = lineage
        guard head.position > reached.position else { return page(lineage) }
        let catalog = try Catalog.load(reader.database)
        var query = query
        query.descending = false
        query.positions = (reached.position + 1)...head.position
        var row: Int64 = 0
        var rows = 0
        var isStopped = false
        try reader.forEachPart(query, catalog: catalog) { batch, part in
            if batch.header.first != row {
                isStopped = rows == Self.rowsPerRead
                if isStopped { return false }
                row = batch.header.first
                rows += 1
            }
            take(part, of: batch, catalog: catalog, lineage: lineage)
            // The later parts of a segment may hold no matches; then this part's end serves as the page's end.
            if !isFull { pass(batch, part) }
            return !isFull
        }
        if isFull { return page(lineage) }
        if isStopped { return nil }
        reached = head
        return page(lineage)
    }

    private mutating func pass(_ batch: EventBatch, _ part: CommitPart) {
        let last = batch.header.first + Int64(part.events.upperBound) - 1
        // The first segment may hold commits from before the page.
        guard last > reached.position else { return }
        reached = LogHead(position: last, commit: part.info.number, time: part.info.time)
        if current?.info.number == part.info.number { current?.head = reached }
    }

    private mutating func take(
        _ part: CommitPart, of batch: EventBatch, catalog: Catalog, lineage: StoreLineage
    ) {
        for index in part.matching {
            if current?.info.number != part.info.number {
                closeCurrent(isEnd: true, lineage)
                isFull = count == limit
                if isFull { return }
            }
            let position = batch.header.first + Int64(index)
            if count + (current?.events.count ?? 0) == limit {
                isFull = true
                // A commit that fits on a page by itself begins the next one; otherwise this page is a part of it.
                if commits.isEmpty { closeCurrent(isEnd: false, lineage) } else { current = nil }
                return
            }
            let head = LogHead(position: position, commit: part.info.number, time: part.info.time)
            current = current ?? Commit(info: part.info, head: head)
            current?.events.append(batch.event(at: index, catalog: catalog, commit: part.info))
            current?.head = head
        }
    }

    private mutating func closeCurrent(isEnd: Bool, _ lineage: StoreLineage) {
        guard let commit = current else { return }
        commits.append(
            CommitChanges(
                commit: commit.info, events: commit.events, beginsCommit: commit.info.number != start.commit,
                endsCommit: isEnd, token: ChangeToken(commit.head, lineage)))
        count += commit.events.count
        current = nil
    }

    private mutating func page(_ lineage: StoreLineage) -> ChangePage {
        closeCurrent(isEnd: true, lineage)
        // A page that isn't full covers everything up to here.
        let next = isFull ? commits.last?.token ?? start : ChangeToken(reached, lineage)
        return ChangePage(commits: commits, next: next, hasMore: isFull)
    }
}
