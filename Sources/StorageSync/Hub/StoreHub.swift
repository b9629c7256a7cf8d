internal import GRDB
internal import StorageCore
package import StorageKit
internal import StorageLog
internal import Synchronization

/// A hub on a store: its entities are the collections, its rows the documents, its log the order of all writes.
///
/// - Each write is a commit of its own, with its client as the actor and its source in the attributes, so the log says
///   who changed what. Followers receive any writes of the hub's own program as well.
/// - A document that a client may not see doesn't exist for it: neither in documents, pages and streams, nor for its writes. Its id can't be saved,
///   so a client can find out that an id is in use.
/// - If several clients write a column of a document, the last value wins. Deletes win: a write by a client that doesn't know of the deletion is
///   rejected.
///
/// A document of the hub is a whole row: a follower receives its latest state, not each step.
///
/// Isolation: `Sendable`; reads and writes are those of the store.
package final class StoreHub: SyncHub {
    package let storage: Storage
    let lineage: StoreLineage
    let tail: HubTail
    let limits: Limits
    /// The memory of live queries, and the signals that end them when the hub stops.
    let liveMemory: LiveQueryMemory
    let signals = HubStopSignals()
    private let lastToken = Mutex<ChangeToken?>(nil)
    private let pushes: HubGroupCommit
    private let following: Task<Void, Never>

    /// The maximum number of events in a page.
    private static let eventsPerRead = 10_000
    /// How many events the tail reads at once: fewer than a page usually has changes, so that followers find every part
    /// in memory, however much was committed meanwhile.
    private static let eventsPerPart = 500
    /// The longest time that a pull waits.
    package static let longestWait = Duration.seconds(25)

    /// Limits on what a hub stores for its clients and processes at once.
    package struct Limits: Sendable {
        /// The size of a page's changes in bytes. The first document of a page may be larger.
        package var pageBytes = 4 << 20
        /// The size of a query's result in bytes.
        package var queryBytes = 16 << 20
        /// The size of the results of all live queries in bytes.
        package var liveBytes = 256 << 20
        /// The number of producers of a namespace, which are kept permanently.
        package var producers = 10_000
        /// The number of requests with keys of a namespace whose outcomes are kept: the latest ones.
        package var keys = 10_000
        /// How far back a batch may search the log, in versions of documents.
        package var historySteps = 100_000

        package init() {}
    }

    /// - Throws: `read-only` if the store can't be written.
    package init(_ storage: Storage, limits: Limits = Limits()) async throws {
        self.storage = storage
        self.limits = limits
        liveMemory = LiveQueryMemory(limit: limits.liveBytes)
        try await storage.engine.withWriter { writer, db in
            try writer.group(db) {
                try HubProducersTable.create(in: db)
                try HubRequestsTable.create(in: db)
            }
        }
        // Before the head is read, so that later commits are signalled.
        let engine = storage.engine
        let bell = engine.commitBell()
        let (lineage, tail) = try await engine.read { db in
            let log = try HubLog(db)
            return (try StoreLineage.load(log.database), HubTail(head: log.head, catalog: log.catalog))
        }
        self.lineage = lineage
        self.tail = tail
        pushes = HubGroupCommit(storage, historySteps: limits.historySteps)
        let bytes = limits.pageBytes
        following = Task {
            for await _ in bell {
                await Self.follow(tail) { position in
                    try await engine.read { db in
                        let log = try HubLog(db)
                        let (changes, end) = try log.changes(
                            behind: position, through: log.head, limit: Self.eventsPerPart, bytes: bytes)
                        return (changes, end, log.head, log.catalog)
                    }
                }
            }
            tail.stop()
        }
    }

    deinit {
        following.cancel()
        tail.stop()
    }

    /// Answers waiting pulls with nothing, and ends live queries; later ones don't wait.
    package func stop() {
        following.cancel()
        tail.stop()
        signals.set()
    }

    package var isStopped: Bool { tail.isStopped }

    /// The number of pulls that wait for a change.
    package var waitingPulls: Int { tail.waiterCount }

    /// The id of the current line.
    package var line: [UInt8] { lineage.lines[lineage.lines.count - 1].id }

    /// The hub's last position.
    package func head() async throws -> Int64 { try await storage.engine.read { try HubLog($0).head } }

    /// The token of a position. Followers of live queries ask for the same one.
    func token(at position: Int64) async throws -> ChangeToken {
        if let last = lastToken.withLock({ $0 }), last.position == position { return last }
        let token = try await storage.changeToken(at: position)
        lastToken.withLock { $0 = token }
        return token
    }

    /// Reads what was committed since the last time.
    ///
    /// - Parameters:
    ///   - delay: The pause before a failed read is retried: the next commit may be far off.
    ///   - read: Returns the changes after a position, the position up to which they are complete, the head, and the
    ///     catalog.
    static func follow(
        _ tail: HubTail, retryingAfter delay: Duration = .milliseconds(200),
        _ read: (Int64) async throws -> (changes: [HubChange], end: Int64, head: Int64, catalog: Catalog)
    ) async {
        var isBehind = true
        var pause = delay
        while isBehind, !Task.isCancelled {
            do {
                let (changes, end, head, catalog) = try await read(tail.end)
                tail.append(changes, end: end, in: catalog)
                isBehind = end < head
                pause = delay
            } catch let error as StorageError where error.isStoreFailure || [.closed, .unusable].contains(error.code) {
                // A store that can't be read any more ends its signals, and pulls receive its error.
                return
            } catch {
                // It ends early if the hub is gone, and so does the loop.
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(10))
            }
        }
    }
}

// MARK: Producers

extension StoreHub {
    package func hello(from producer: ProducerID, epoch: Int64, as access: HubAccess) async throws -> SyncWelcome {
        let lines = lineage.lines.map { RemoteLine(id: $0.id, fork: $0.fork) }
        let limit = limits.producers
        return try await storage.engine.withWriter { writer, db in
            try writer.group(db) {
                let loaded = try HubProducersTable.load(producer, in: db)
                if loaded == nil, try HubProducersTable.isFull(access.namespace, limit: limit, in: db) {
                    throw SyncFailure.refused(
                        .invalid("The token's name has \(limit) devices already. Use a token of another name."))
                }
                var known = loaded ?? WriteDeduplication()
                guard known.begin(epoch: epoch) else { throw SyncFailure.sessionEnded(epoch: known.epoch) }
                try HubProducersTable.save(known, of: producer, in: db)
                return SyncWelcome(
                    lines: lines, head: writer.nextPosition - 1, lastNumber: known.lastNumber, results: known.results,
                    lastSession: known.lastSession, access: try access.fingerprint)
            }
        }
    }

    package func push(_ batch: HubBatch, as access: HubAccess) async throws -> [NumberedResult] {
        guard batch.line == line else { throw SyncFailure.sessionEnded(epoch: nil) }
        if let refusal = batch.refusal { throw refusal }
        return try await pushes.push(batch, as: access)
    }
}

// MARK: Changes

extension StoreHub {
    package func pull(_ pull: HubPull, as access: HubAccess) async throws -> SyncPage {
        guard pull.position >= 0, pull.line.map({ $0 == line }) ?? (pull.position == 0) else {
            throw SyncFailure.sessionEnded(epoch: nil)
        }
        guard pull.limit > 0 else {
            throw SyncFailure.refused(.invalid("A page must have room for at least one change."))
        }
        let scope = HubScope(pull, access)
        let start = pull.position
        // The hub was replaced by an older copy: there is nothing to wait for.
        if start > tail.end, try await head() < start { throw SyncFailure.sessionEnded(epoch: nil) }
        let deadline = ContinuousClock.now + min(pull.wait, Self.longestWait)
        var seen = start
        while true {
            try Task.checkCancellation()
            let page = try await page(
                behind: seen, through: pull.lastPosition, in: scope, limit: pull.limit,
                isFirst: start == 0 && seen == start, isLast: pull.wait <= .zero)
            seen = page.end
            let rest = deadline - ContinuousClock.now
            guard page.changes.isEmpty, rest > .zero, start > 0 || page.end == 0, !tail.isStopped else {
                return SyncPage(start: start, end: seen, changes: page.changes)
            }
            if page.isWhole { seen = max(seen, await tail.wait(behind: seen, in: scope, for: rest)) }
        }
    }

    fileprivate struct Page {
        let changes: [RemoteChange]
        let end: Int64
        /// Whether nothing more followed when the page was made.
        var isWhole = true
    }

    /// - Parameter isLast: Whether the caller won't wait for more: behind the tail's end, the page then contains what was committed
    ///   before and the tail hasn't read yet.
    private func page(
        behind position: Int64, through last: Int64?, in scope: HubScope, limit: Int, isFirst: Bool, isLast: Bool
    ) async throws -> Page {
        let tail = tail
        let end = tail.end
        let passesTail = isLast && position >= end
        if !isFirst, !passesTail, last == nil,
            let (changes, end, isWhole) = tail.changes(
                behind: position, in: scope, limit: limit, bytes: limits.pageBytes)
        {
            return Page(changes: changes, end: end, isWhole: isWhole)
        }
        let bytes = limits.pageBytes
        return try await storage.engine.read { db in
            let log = try HubLog(db)
            guard position <= log.head else { throw SyncFailure.sessionEnded(epoch: nil) }
            do { try log.check(scope) } catch HubError.invalid(let reason) {
                throw SyncFailure.refused(.invalid(reason))
            }
            tail.note(unknown: scope.missingColumns(in: log.catalog), in: log.catalog)
            if isFirst { return try Self.documents(in: scope, log, db, limit: limit, bytes: bytes) }
            // Up to the tail's end: waiting followers receive what comes after it.
            let end = min(passesTail ? log.head : end, last ?? .max)
            guard position < end else { return Page(changes: [], end: position) }
            // Reads at most as many events as the page has room for changes: if a page ended between two events of a
            // document, the change that hid the document from the follower would be missing.
            let (changes, reached) = try log.changes(
                behind: position, through: end, for: scope, hasWritten: try Self.hasWritten(scope, in: db),
                limit: min(Self.eventsPerRead, limit), bytes: bytes)
            return Page(changes: HubTail.composed(changes, in: scope), end: reached, isWhole: reached == end)
        }
    }

    /// The current documents, by the positions of their last events: what a follower begins with.
    ///
    /// A row that was written past the log has none of the log's positions, so no page could end after it.
    private static func documents(
        in scope: HubScope, _ log: HubLog, _ db: Database, limit: Int, bytes: Int
    ) throws -> Page {
        var found: [FoundRow] = []
        for name in scope.entities {
            guard let table = log.table(name), let candidates = scope.candidates(in: table) else { continue }
            let select = try PreparedStatement(
                log.database,
                """
                SELECT _position, \(quoted(table.key.stored)) FROM \(quoted(table.entity.stored))
                WHERE _position BETWEEN 1 AND \(log.head) AND \(candidates.clause) ORDER BY _position LIMIT ?
                """)
            let isLimited = scope.isLimited(in: table)
            let values = candidates.values + [.integer(isLimited ? -1 : Int64(limit) + 1)]
            for (index, value) in values.enumerated() { ExactValue(value).bind(to: select, at: Int32(index + 1)) }
            var count = 0
            while count <= limit, try select.step() {
                let key = ExactValue(select, column: 1).value
                if isLimited {
                    guard let row = try table.row(key, in: log.database)?.row, scope.sees(row, in: table) else {
                        continue
                    }
                }
                found.append((select.integer(0), table, key))
                count += 1
            }
        }
        let (rows, end) = try firstPage(of: found, limit: limit, in: log)
        // A follower that starts over and has written before must not mistake its own writes for those of others.
        let hasWritten = try Self.hasWritten(scope, in: db)
        var changes: [HubChange] = []
        var total = 0
        for (position, table, key) in rows {
            guard let id = table.id(of: key), let row = try table.row(key, in: log.database)?.row else { continue }
            let source = hasWritten ? try log.source(at: position) : nil
            let change = HubChange(table: table, id: id, position: position, old: nil, new: row, source: source)
            total += change.byteCount
            if total > bytes, let last = changes.last {
                return Page(changes: HubTail.composed(changes, in: scope), end: last.position, isWhole: false)
            }
            changes.append(change)
        }
        return Page(changes: HubTail.composed(changes, in: scope), end: end ?? log.head, isWhole: end == nil)
    }

    private typealias FoundRow = (position: Int64, table: HubEntityTable, key: StorageValue)

    /// The first rows by position, and the position at which their page ends; nil for the end if these are all rows.
    ///
    /// Another program may have given a row the position of another one. The log's event at a position is one row's, and followers
    /// refuse a page in which a position comes twice, so the other rows are left out, as all rows that bypass the log are. A page doesn't
    /// end between such rows: what isn't in it comes with the log's events.
    private static func firstPage(
        of found: [FoundRow], limit: Int, in log: HubLog
    ) throws -> (rows: [FoundRow], end: Int64?) {
        var rows = found.sorted { $0.position < $1.position }
        var end: Int64?
        if limit > 0, rows.count > limit {
            let last = rows[limit - 1].position
            // Before the first event there is nothing at which a page could end.
            let isSplit = last > 1 && rows[limit].position == last
            let reached = isSplit ? last - 1 : last
            rows.removeAll { $0.position > reached }
            end = reached
        }
        let copied = Set(zip(rows, rows.dropFirst()).filter { $0.position == $1.position }.map { $0.0.position })
        guard !copied.isEmpty else { return (rows, end) }
        rows = try rows.filter { row in
            try !copied.contains(row.position)
                || log.row(at: row.position) == RowAddress(entity: row.table.entity.id, values: [row.key])
        }
        return (rows, end)
    }

    private static func hasWritten(_ scope: HubScope, in db: Database) throws -> Bool {
        try scope.producer.flatMap { try HubProducersTable.load($0, in: db) }?.lastOrigin ?? 0 > 0
    }

    /// A list of documents ends after the one that exceeds this size.
    static var maximumPageBytes: Int { Limits().pageBytes }
}
