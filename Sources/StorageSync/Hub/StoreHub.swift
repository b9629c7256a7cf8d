internal import GRDB
internal import StorageCore
package import StorageKit
internal import StorageLog

/// A hub on a store: its entities are the collections, its rows the documents, its log the order of all writes.
///
/// - Each write is a commit of its own, with its client as the actor and where it came from in its attributes, so the log says who
///   changed what. Followers get writes of the hub's own program, by whatever means, like any other.
/// - What a client may not see doesn't exist for it: not in documents, pages and streams, nor in what its writes find.
///   An id that is taken by such a document can't be saved under; that much a client can find out.
/// - Columns of one document that several clients write keep the value that is written last. Deletes win: a write by somebody who
///   doesn't know of the deletion is rejected.
///
/// A document of the hub is a whole row: a follower gets what a document is by then, not each step.
///
/// Isolation: `Sendable`; reads and writes are those of the store.
package final class StoreHub: SyncHub {
    package let storage: Storage
    let lines: [RemoteLine]
    let tail: HubTail
    let limits: Limits
    private let pushes: HubPushes
    private let following: Task<Void, Never>

    /// How many events a page is made of at the most.
    private static let eventsPerRead = 10_000
    /// How many events the tail reads at once: fewer than a page usually has changes, so that followers find every part of it in memory,
    /// however much has been committed meanwhile.
    private static let eventsPerPart = 500
    /// The longest time that a pull waits.
    package static let longestWait = Duration.seconds(25)

    /// What a hub keeps of its clients, and does for them at once.
    package struct Limits: Sendable {
        /// Bytes of a page's changes. The first document of a page may have more.
        package var pageBytes = 4 << 20
        /// Bytes of the documents that a query finds.
        package var queryBytes = 16 << 20
        /// Producers of one namespace, which are kept for ever.
        package var producers = 10_000
        /// Requests with keys of one namespace whose outcomes are kept: the last ones.
        package var keys = 10_000
        /// How far a batch has the log looked back through, in versions of documents.
        package var historySteps = 100_000

        package init() {}
    }

    /// - Throws: `read-only` where the store can't be written to.
    package init(_ storage: Storage, limits: Limits = Limits()) async throws {
        self.storage = storage
        self.limits = limits
        try await storage.engine.withWriter { writer, db in
            try writer.group(db) {
                try HubProducers.create(in: db)
                try HubRequests.create(in: db)
            }
        }
        // Before the head is read: what is committed behind that rings.
        let engine = storage.engine
        let bell = engine.commitBell()
        let (lines, tail) = try await engine.read { db in
            let log = try HubLog(db)
            let lines = try StoreLineage.load(log.database).lines.map { RemoteLine(id: $0.id, fork: $0.fork) }
            return (lines, HubTail(head: log.head, catalog: log.catalog))
        }
        self.lines = lines
        self.tail = tail
        pushes = HubPushes(storage, historySteps: limits.historySteps)
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

    /// Answers pulls that wait, with nothing; later ones don't wait.
    package func stop() {
        following.cancel()
        tail.stop()
    }

    package var isStopped: Bool { tail.isStopped }

    /// How many pulls wait for a change.
    package var waitingPulls: Int { tail.waiterCount }

    /// Of the history that goes on here.
    package var line: [UInt8] { lines[lines.count - 1].id }

    /// The hub's last position.
    package func head() async throws -> Int64 { try await storage.engine.read { try HubLog($0).head } }

    /// Reads what was committed since the last time.
    ///
    /// - Parameters:
    ///   - delay: Before what couldn't be read is tried again: the bell may not ring for a long time.
    ///   - read: Gives the changes behind a position, up to where they reach, the head, and the catalog.
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
                // A store that can't be read any more ends its bell, and those who pull get its error.
                return
            } catch {
                // It ends early where the hub has gone, and so does the loop.
                try? await Task.sleep(for: pause)
                pause = min(pause * 2, .seconds(10))
            }
        }
    }
}

// MARK: Producers

extension StoreHub {
    package func hello(from producer: ProducerID, epoch: Int64, as access: HubAccess) async throws -> SyncWelcome {
        let (lines, limit) = (lines, limits.producers)
        return try await storage.engine.withWriter { writer, db in
            try writer.group(db) {
                let loaded = try HubProducers.load(producer, in: db)
                if loaded == nil, try HubProducers.isFull(access.namespace, limit: limit, in: db) {
                    throw SyncFailure.refused(
                        .invalid("The token's name has \(limit) devices already. Use a token of another name."))
                }
                var known = loaded ?? HubProducer()
                guard known.begin(epoch: epoch) else { throw SyncFailure.sessionEnded(epoch: known.epoch) }
                try HubProducers.save(known, of: producer, in: db)
                return SyncWelcome(
                    lines: lines, head: writer.nextPosition - 1, lastNumber: known.lastNumber, results: known.results,
                    access: try access.fingerprint)
            }
        }
    }

    package func push(_ batch: HubBatch, as access: HubAccess) async throws -> [NumberedResult] {
        guard batch.line == line else { throw SyncFailure.sessionEnded(epoch: nil) }
        return try await pushes.push(batch, as: access)
    }
}

// MARK: Changes

extension StoreHub {
    package func pull(_ pull: HubPull, as access: HubAccess) async throws -> SyncPage {
        guard pull.position >= 0, pull.line.map({ $0 == line }) ?? (pull.position == 0) else {
            throw SyncFailure.sessionEnded(epoch: nil)
        }
        guard pull.limit > 0 else { throw SyncFailure.refused(.invalid("A page has room for one change at least.")) }
        let scope = HubScope(pull, access)
        let start = pull.position
        // A hub that was replaced by an older copy: nothing is to be waited for.
        if start > tail.end, try await head() < start { throw SyncFailure.sessionEnded(epoch: nil) }
        let deadline = ContinuousClock.now + min(pull.wait, Self.longestWait)
        var seen = start
        while true {
            try Task.checkCancellation()
            let page = try await page(
                behind: seen, in: scope, limit: pull.limit, isFirst: start == 0 && seen == start,
                isLast: pull.wait <= .zero)
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
        /// Whether there was nothing more when it was made.
        var isWhole = true
    }

    /// - Parameter isLast: Whether nothing is waited for behind it: then it has what was committed before, also where the tail hasn't read
    ///   that yet.
    private func page(
        behind position: Int64, in scope: HubScope, limit: Int, isFirst: Bool, isLast: Bool
    ) async throws -> Page {
        let tail = tail
        let end = tail.end
        let passesTail = isLast && position >= end
        if !isFirst, !passesTail,
            let (changes, end, isWhole) = tail.changes(
                behind: position, in: scope, limit: limit, bytes: limits.pageBytes)
        {
            return Page(changes: changes, end: end, isWhole: isWhole)
        }
        let bytes = limits.pageBytes
        return try await storage.engine.read { db in
            let log = try HubLog(db)
            guard position <= log.head else { throw SyncFailure.sessionEnded(epoch: nil) }
            try log.checkConditions(of: scope)
            tail.note(unknown: scope.missingColumns(in: log.catalog), in: log.catalog)
            if isFirst { return try Self.documents(in: scope, log, db, limit: limit, bytes: bytes) }
            // To where the tail goes on: those who wait get what lies behind it.
            let end = passesTail ? log.head : end
            guard position < end else { return Page(changes: [], end: position) }
            // No more events than a page has room for changes: in a page that was cut between two events of a document, the
            // change with which the document has left what the follower sees would be missing.
            let (changes, reached) = try log.changes(
                behind: position, through: end, for: scope, hasWritten: try Self.hasWritten(scope, in: db),
                limit: min(Self.eventsPerRead, limit), bytes: bytes)
            return Page(changes: HubTail.composed(changes, in: scope), end: reached, isWhole: reached == end)
        }
    }

    /// The documents as they are, by the positions of their last events: what a follower begins with.
    private static func documents(
        in scope: HubScope, _ log: HubLog, _ db: Database, limit: Int, bytes: Int
    ) throws -> Page {
        var found: [(position: Int64, table: HubTable, key: StorageValue)] = []
        for name in scope.entities {
            guard let table = log.table(name), let candidates = scope.candidates(in: table) else { continue }
            let select = try PreparedStatement(
                log.database,
                """
                SELECT _position, \(quoted(table.key.stored)) FROM \(quoted(table.entity.stored))
                WHERE \(candidates.clause) ORDER BY _position LIMIT ?
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
        found.sort { $0.position < $1.position }
        // Somebody who begins, and has written before, isn't to take its own writes for those of others.
        let hasWritten = try Self.hasWritten(scope, in: db)
        let isWhole = found.count <= limit
        found = Array(found.prefix(limit))
        var changes: [HubChange] = []
        var total = 0
        for (position, table, key) in found {
            guard let id = table.id(of: key), let row = try table.row(key, in: log.database)?.row else { continue }
            let source = hasWritten ? try log.source(at: position) : nil
            let change = HubChange(table: table, id: id, position: position, old: nil, new: row, source: source)
            total += change.byteCount
            if total > bytes, let last = changes.last {
                return Page(changes: HubTail.composed(changes, in: scope), end: last.position, isWhole: false)
            }
            changes.append(change)
        }
        let end = isWhole ? log.head : found.last?.position ?? log.head
        return Page(changes: HubTail.composed(changes, in: scope), end: end, isWhole: isWhole)
    }

    private static func hasWritten(_ scope: HubScope, in db: Database) throws -> Bool {
        try scope.producer.flatMap { try HubProducers.load($0, in: db) }?.lastOrigin ?? 0 > 0
    }

    /// A list of documents ends behind the one that makes it longer than this.
    static var maximumPageBytes: Int { Limits().pageBytes }
}
