internal import CSQLite
internal import Foundation
package import GRDB
internal import StorageCore

/// Everything that the writer connection knows and does: capture, commits, the tail of the log.
///
/// Isolation: confined to the queue of the writer connection. It isn't `Sendable`; ``StorageEngine`` hands it out only
/// inside a block that runs there.
package final class LogWriter {
    package let database: OpaquePointer
    let capture: OpaquePointer
    package let configuration: StorageConfiguration

    /// The last position, commit and time in the log, as of the last finished transaction.
    package private(set) var head: LogHead
    package internal(set) var catalog: Catalog
    var schema = SchemaState()
    /// Catalog rows that capture has to wait with until the statement under way is over.
    var pendingCatalog: [UInt32: [StorageValue]] = [:]
    /// The catalog by SQLite's schema version, for the versions that this commit has gone through.
    var catalogStates: [Int64: CatalogState] = [:]
    var catalogIsDirty = false
    /// Whether the commit under way has changed the catalog, and entities whose rows it gave other row numbers.
    var catalogMoved = false
    var renumbered: Set<UInt32> = []
    package let observers = CommitObservers()
    /// Up to which change capture knows what observers ask for.
    private var knownAsked = 0
    /// By which other processes hear of commits; nil where there are none.
    private let doorbell: Doorbell?
    package private(set) var projections: [any InlineProjection] = []

    private var statements: [ExactText: Statement] = [:]
    let encoder = SegmentEncoder()
    let decoder = SegmentDecoder()

    /// The commits of the transaction under way, with the place of their first event in the capture buffer.
    private var open: [(info: CommitInfo, events: Range<Int>)] = []
    private var pending: LogHead
    /// First position that may not be sealed yet; nil until somebody looked.
    var sealedThrough: Int64?
    private(set) var isInGroup = false
    private var role = WriterRole()

    init(
        database: OpaquePointer, capture: OpaquePointer, configuration: StorageConfiguration, doorbell: Doorbell?
    ) throws {
        self.database = database
        self.capture = capture
        self.configuration = configuration
        self.doorbell = doorbell
        catalog = try Catalog.load(database)
        head = try LogHead.load(database)
        pending = head
    }

    deinit {
        statements.removeAll()
        sqlite3_preupdate_hook(database, nil, nil)
        sqlite3_trace_v2(database, 0, nil, nil)
        storage_capture_destroy(capture)
    }

    /// Keeps derived state in step from now on.
    ///
    /// - Throws: Where the store has derived state that nobody would keep.
    func install(_ projections: [any InlineProjection]) throws {
        self.projections = projections
        let select = try statement("SELECT name FROM storage_projection WHERE kind = 'full-text' LIMIT 1")
        defer { select.reset() }
        guard projections.isEmpty, try select.step() else { return }
        throw StorageError(
            .misuse, "The store has the projection \(select.string(0)), which this opening wouldn't keep in step.",
            remedy: "Open it with openStore.")
    }

    /// A prepared statement that lives as long as the connection.
    package func statement(_ sql: String) throws -> Statement {
        if let known = statements[ExactText(sql)] { return known }
        let statement = try Statement(database, sql)
        // Statements of one-off texts must not pile up.
        if statements.count >= 512 { statements.removeAll() }
        statements[ExactText(sql)] = statement
        return statement
    }

    /// The position that the next captured event will have.
    package var nextPosition: Int64 { head.position + Int64(storage_capture_count(capture)) + 1 }
}

/// The end of the log.
package struct LogHead: Sendable, Equatable {
    package var position: Int64 = 0
    package var commit: Int64 = 0
    package var time: Int64 = 0

    package init(position: Int64 = 0, commit: Int64 = 0, time: Int64 = 0) {
        self.position = position
        self.commit = commit
        self.time = time
    }

    private static let select = "SELECT last, last_commit, last_time FROM storage_log ORDER BY position DESC LIMIT 1"

    /// The same as of a connection's pointer, without preparing the statement each time.
    package static func load(_ database: GRDB.Database) throws -> LogHead {
        try database.withKept(select) { rows in
            guard try rows.next() else { return LogHead() }
            return LogHead(
                position: try rows.row.integer(at: 0), commit: try rows.row.integer(at: 1),
                time: try rows.row.integer(at: 2))
        }
    }

    package static func load(_ database: OpaquePointer) throws -> LogHead {
        let select = try Statement(database, select)
        guard try select.step() else { return LogHead() }
        return LogHead(position: select.integer(0), commit: select.integer(1), time: select.integer(2))
    }
}

// MARK: Groups

extension LogWriter {
    /// Runs one SQLite transaction that holds any number of commits. Each is there wholly or not at all; the
    /// transaction is durable, or not there, when this returns or throws.
    ///
    /// - Parameter rings: Whether those who follow the store are woken before this returns; if not, ``ring()`` does it.
    package func group<Result>(
        _ db: GRDB.Database, sealing: Bool = false, rings: Bool = true, _ body: () throws -> Result
    ) throws -> Result {
        try db.beginTransaction(.immediate)
        isInGroup = true
        storage_capture_set_in_group(capture, 1)
        defer {
            isInGroup = false
            storage_capture_set_in_group(capture, 0)
        }
        do {
            try statement("INSERT INTO storage_sentinel VALUES (1)").execute()
            try checkEpoch()
            open.removeAll(keepingCapacity: true)
            pending = head
            attachAskedColumns()
            let result = try body()
            try appendOpenCommits(sealing: sealing)
            storage_capture_set_logged(capture, 1)
            try db.commit()
            head = pending
            catalogIsDirty = false
            if !observers.isEmpty, !open.isEmpty { observers.tell(committedEvents) }
            if rings { ring() }
            for projection in projections { projection.committed(in: self) }
            storage_capture_reset(capture)
            return result
        } catch {
            storage_capture_set_in_group(capture, 0)
            // The error that is thrown on is the one that matters; a rollback can fail only when SQLite has rolled
            // back by itself already.
            if db.isInsideTransaction { try? db.rollback() }
            storage_capture_reset(capture)
            try forgetCatalogChanges()
            catalogIsDirty = false
            throw StorageError.wrapping(error)
        }
    }

    /// Wakes those who follow the store, here and in other processes.
    func ring() {
        observers.ring()
        if !open.isEmpty { doorbell?.ring() }
    }

    /// How many events wait in the transaction under way.
    package var pendingEvents: Int { storage_capture_count(capture) }

    /// The events of the transaction that has just become durable, lent.
    private var committedEvents: CommittedEvents {
        let view = captured
        return CommittedEvents(
            view: view, first: head.position - Int64(view.count) + 1, commits: open, catalog: catalog,
            attached: attached)
    }

    /// What was attached to the captured events; valid until the next change is captured.
    var attached: AttachedValues {
        AttachedValues(
            values: UnsafeBufferPointer(
                start: storage_capture_attachments(capture), count: storage_capture_attachment_count(capture)),
            bytes: storage_capture_attached_bytes(capture))
    }

    /// Lets capture attach to updates what observers ask for.
    private func attachAskedColumns() {
        guard let columns = observers.asked.all(since: &knownAsked) else { return }
        columns.withUnsafeBufferPointer { storage_capture_attach(capture, $0.baseAddress, $0.count) }
    }

    /// How many events were captured before the commit under way.
    var commitStart: Int { open.last?.events.upperBound ?? 0 }

    /// How many events of each of the users' entities wait behind the first `count`, by the entities' names.
    package func pendingChanges(after count: Int) -> [(entity: String, events: Int)] {
        let view = captured
        var counts: [UInt32: Int] = [:]
        for index in count..<max(view.count, count) { counts[view.shape(of: index).entity, default: 0] += 1 }
        return counts.filter { !CatalogEntity.isReserved($0.key) }.sorted { $0.key < $1.key }.map {
            (catalog.entity(id: $0.key)?.name ?? "", $0.value)
        }
    }

    /// Bytes of the texts and blobs that wait with them.
    package var pendingBytes: Int { storage_capture_byte_count(capture) }

    /// One commit inside a group: what `body` changes is recorded together, or, if it throws, undone together.
    package func commit(
        _ metadata: CommitMetadata, at time: Int64? = nil, _ body: () throws -> Void
    ) throws -> CommitReceipt {
        precondition(isInGroup, "commits are made inside a group")
        try metadata.validate()
        if let key = metadata.idempotencyKey, let receipt = try repeated(key) { return receipt }
        let start = storage_capture_count(capture)
        let touches = storage_capture_touch_count(capture)
        try statement("SAVEPOINT storage_commit").execute()
        do {
            try body()
            guard storage_capture_ended(capture) == 0 else { throw StorageError.transactionEnded() }
            let receipt = try finish(metadata, at: time, from: start, touchesFrom: touches)
            try statement("RELEASE storage_commit").execute()
            return receipt
        } catch {
            guard storage_capture_ended(capture) == 0 else {
                // SQLite ends a transaction by itself when the disk fails; otherwise the body did.
                let error = StorageError.wrapping(error)
                let isOfTheDisk = [.inputOutput, .corrupt].contains((error as? StorageError)?.code)
                throw (isOfTheDisk ? error : StorageError.transactionEnded(error)).endingTheGroup()
            }
            do {
                try statement("ROLLBACK TO storage_commit").execute()
                try statement("RELEASE storage_commit").execute()
            } catch {
                // The body released the savepoint that isn't its own: nobody can undo this commit alone any more.
                throw StorageError.transactionEnded(error).endingTheGroup()
            }
            try forgetCatalogChanges()
            throw StorageError.wrapping(error)
        }
    }

    /// Gives the events of a commit their places in the log.
    private func finish(
        _ metadata: CommitMetadata, at time: Int64?, from start: Int, touchesFrom firstTouch: Int
    ) throws -> CommitReceipt {
        try recordSchemaChanges()
        try checkCapture()
        try checkReferences()
        let end = storage_capture_count(capture)
        try linkEvents(start..<end, touchesFrom: firstTouch)
        let clock = max(time ?? configuration.clock.microseconds, pending.time)
        let info = CommitInfo(number: pending.commit + 1, time: clock, metadata: metadata)
        try project(start..<end, info)
        guard end > start else {
            let receipt = CommitReceipt(commit: nil, first: pending.position + 1, last: pending.position, time: clock)
            try remember(metadata.idempotencyKey, receipt)
            return receipt
        }
        open.append((info, start..<end))
        let receipt = CommitReceipt(
            commit: info.number, first: pending.position + 1, last: pending.position + Int64(end - start), time: clock)
        try remember(metadata.idempotencyKey, receipt)
        pending = LogHead(position: receipt.last, commit: info.number, time: clock)
        return receipt
    }

    /// Lets derived state follow the commit under way.
    private func project(_ events: Range<Int>, _ commit: CommitInfo) throws {
        guard !projections.isEmpty else { return }
        try asEngine {
            if catalogMoved {
                let renumbered = renumbered
                for projection in projections { try projection.catalogChanged(renumbered: renumbered, in: self) }
            }
            guard !events.isEmpty else { return }
            let view = captured
            for projection in projections { try projection.apply(events, of: view, commit: commit, in: self) }
        }
        catalogMoved = false
        renumbered = []
    }

    private func checkEpoch() throws {
        let select = try statement("SELECT writer_epoch FROM storage_meta")
        defer { select.reset() }
        guard try select.step(), select.integer(0) == configuration.epoch else {
            throw StorageError(
                .busy, "Another process has become the writer of this store.",
                remedy: "Close this store and open it again once the other process has let go of it.")
        }
    }

    private func repeated(_ key: String) throws -> CommitReceipt? {
        let select = try statement("SELECT number, first, last, time FROM storage_commit_key WHERE key = ?")
        defer { select.reset() }
        select.bind(text: key, at: 1)
        guard try select.step() else { return nil }
        let number = select.integer(0)
        return CommitReceipt(
            commit: number == 0 ? nil : number, first: select.integer(1), last: select.integer(2),
            time: select.integer(3), isRepeated: true)
    }

    private func remember(_ key: String?, _ receipt: CommitReceipt) throws {
        guard let key else { return }
        let insert = try statement(
            "INSERT INTO storage_commit_key(key, number, first, last, time) VALUES (?, ?, ?, ?, ?)")
        insert.bind(text: key, at: 1)
        insert.bind(receipt.commit ?? 0, at: 2)
        insert.bind(receipt.first, at: 3)
        insert.bind(receipt.last, at: 4)
        insert.bind(receipt.time, at: 5)
        try insert.execute()
    }

    /// Deferred foreign keys are due when SQLite commits, which would fail every commit of the group.
    func checkReferences() throws {
        var unresolved: Int32 = 0
        var highest: Int32 = 0
        sqlite3_db_status(database, SQLITE_DBSTATUS_DEFERRED_FKS, &unresolved, &highest, 0)
        guard unresolved == 0 else { throw StorageError.unresolvedReferences() }
    }

    private func checkCapture() throws {
        var entity: UInt32 = 0
        var column: UInt32 = 0
        let error = storage_capture_error(capture, &entity, &column)
        guard error != Int32(STORAGE_CAPTURE_OK) else { return }
        throw StorageError.capture(
            error, entity: catalog.entity(id: entity)?.name, column: catalog.column(id: column)?.name)
    }
}

// MARK: Rows of the log

extension LogWriter {
    /// The captured events; valid until the next change is captured.
    package var captured: EventView {
        EventView(
            events: somewhere(storage_capture_events(capture)), count: storage_capture_count(capture),
            values: somewhere(storage_capture_values(capture)), bytes: somewhere(storage_capture_bytes(capture)),
            shapes: somewhere(storage_capture_shapes(capture)), shapeCount: storage_capture_shape_count(capture))
    }

    /// An empty buffer has no address; nothing is read from it then, so any will do.
    private func somewhere<Element>(_ address: UnsafePointer<Element>?) -> UnsafePointer<Element> {
        address ?? UnsafePointer(bitPattern: MemoryLayout<Element>.alignment).unsafelyUnwrapped
    }

    /// Writes the commits of this transaction behind the log's end.
    private func appendOpenCommits(sealing: Bool) throws {
        guard !open.isEmpty else { return }
        let view = captured
        guard let total = open.last?.events.upperBound, total == view.count else {
            throw StorageError.corruptLog("changes were captured outside of a commit")
        }
        try asEngine {
            try appendRows(view, commits: open, first: head.position + 1, replacing: false, sealing: sealing)
        }
    }

    /// Cuts events into rows at the borders of windows, and writes them.
    func appendRows(
        _ view: EventView, commits: [(info: CommitInfo, events: Range<Int>)], first: Int64, replacing: Bool,
        sealing: Bool, continues: (earlier: Bool, later: Bool) = (false, false)
    ) throws {
        let window = Int64(configuration.segmentLength)
        var start = 0
        var commit = 0
        while start < view.count {
            let position = first + Int64(start)
            let windowStart: Int64 = (position - 1) / window * window
            let border: Int64 = windowStart + window
            let room = Int(border - position) + 1
            var end: Int = min(view.count, start + room)
            end = view.cut(start..<end, bytes: Limits.segmentTargetBytes)
            var slices = slice(commits, start..<end, from: &commit)
            if start == 0, continues.earlier { slices[0].continuesEarlier = true }
            if end == view.count, continues.later { slices[slices.count - 1].continuesLater = true }
            // Sealed rows are always the log's beginning: a window is written sealed only behind a sealed one.
            let isWholeWindow = windowStart + 1 >= first && start + room <= view.count
            let sealed = try replacing || (sealing && isWholeWindow && firstUnsealed() == position)
            let row = try encoder.encode(
                view, range: start..<end, first: position, commits: slices,
                level: sealed ? configuration.sealedLevel : configuration.tailLevel)
            try insert(row, sealed: sealed)
            start = end
            let fillsWindow = position + Int64(row.header.count) - 1 == border
            if sealing, !replacing, !sealed, fillsWindow, try firstUnsealed() == windowStart + 1 {
                try merge(windowStart + 1...border)
            }
        }
    }

    /// The parts of the commits that lie in a range of events. `commit` is where to begin looking, and moves on.
    private func slice(
        _ commits: [(info: CommitInfo, events: Range<Int>)], _ range: Range<Int>, from commit: inout Int
    ) -> [CommitSlice] {
        while commits[commit].events.upperBound <= range.lowerBound { commit += 1 }
        var slices: [CommitSlice] = []
        var index = commit
        while index < commits.count, commits[index].events.lowerBound < range.upperBound {
            let events = commits[index].events.clamped(to: range)
            slices.append(
                CommitSlice(
                    info: commits[index].info, eventCount: events.count,
                    continuesEarlier: commits[index].events.lowerBound < range.lowerBound,
                    continuesLater: commits[index].events.upperBound > range.upperBound))
            index += 1
        }
        return slices
    }

    func insert(_ row: SegmentEncoder.Row, sealed: Bool) throws {
        try row.insert(with: statement(SegmentEncoder.Row.insertion), sealed: sealed)
    }

    /// Runs `body` with the guards of the engine's tables open and nothing captured.
    package func asEngine<Result>(_ body: () throws -> Result) rethrows -> Result {
        try with(WriterRole(engine: 1, isSuppressed: 1), body)
    }

    /// Runs `body` with the guards of projections' own tables open. Changes of entities are captured, so that they can be
    /// seen and refused.
    package func asProjection<Result>(_ body: () throws -> Result) rethrows -> Result {
        try with(WriterRole(engine: 2, isSuppressed: 0), body)
    }

    private func with<Result>(_ wanted: WriterRole, _ body: () throws -> Result) rethrows -> Result {
        let before = role
        take(wanted)
        defer { take(before) }
        return try body()
    }

    private func take(_ wanted: WriterRole) {
        role = wanted
        storage_capture_set_engine(capture, wanted.engine)
        storage_capture_set_suppressed(capture, wanted.isSuppressed)
    }
}

/// In whose name the writer works.
private struct WriterRole {
    /// What the SQL function storage_engine() answers: 1 for the engine, 2 for a projection.
    var engine: Int32 = 0
    var isSuppressed: Int32 = 0
}

extension EventView {
    /// Shortens a range so that its texts stay under a number of bytes, but leaves at least one event.
    func cut(_ range: Range<Int>, bytes limit: Int) -> Int {
        var total = 0
        for index in range {
            let values = key(of: index)
            for value in 0..<valueCount(of: index) { total += Int(values[value].size) }
            if total > limit, index > range.lowerBound { return index }
        }
        return range.upperBound
    }
}
