internal import Dispatch
internal import GRDB
internal import StorageCore
internal import StorageHistory
package import StorageLog

/// Rebuilds entity tables from the log beside the old ones, while commits continue, and then swaps them in one
/// transaction.
///
/// Its progress is stored with each step, so that the next rebuild resumes one that is cancelled or killed; only the rows that are sorted
/// first (``Pace/sorts``) are one step. Isolation: `Sendable`; one task runs it.
package struct Rebuild: Sendable {
    private let engine: StorageEngine
    private let names: [String]
    private let options: RebuildOptions
    private let pace: Pace
    private let progress: @Sendable (RebuildProgress) -> Void

    /// How much is done at once, and how.
    package struct Pace: Sendable {
        /// How long a step may hold the writer while commits wait for it.
        package var patience: Duration = .milliseconds(20)
        /// How long a step may hold the writer while no commit waits: the work lost if the process is killed.
        package var step: Duration = .milliseconds(500)
        /// Events after which a step ends in any case.
        package var limit = Int.max
        /// Whether the events of a window are folded first, so that a row is written once; else one by one.
        package var collects = true
        /// The bytes that a window may use, and several times as many if that saves work, see ``NetWindow``; there are
        /// two windows at a time.
        package var memory = 2 << 20
        /// Whether the rows of empty tables are sorted first, see ``SortedWindows``: then each is written once, in the order of keys, but
        /// an interrupted rebuild starts over. If nil, long logs in files with several events for each row are sorted.
        package var sorts: Bool?
        /// A log of fewer events is processed so quickly that sorting saves little.
        package var leastSortedEvents: Int64 = 100_000
        /// Later events are not sorted, so that a rebuild that is interrupted has to repeat some seconds of work at most.
        package var mostSortedEvents: Int64 = 32 << 20
        /// Whether needed events are determined before events are read. If nil, this starts once a window mostly has
        /// the rows of earlier windows, and much of the log is left.
        package var seeksNeeded: Bool?
        /// A window ends before so many events that aren't needed: the next one skips them without decoding them.
        package var gap = NetWindow.gap

        package init() {}
    }

    /// A window of this size takes the writer a few milliseconds.
    private static let leastMemory = 256 << 10
    /// The events for each row that make sorting cheaper.
    private static let manyVersions: Int64 = 4
    /// The total size of windows, in multiples of ``Pace/memory``, after which the write-ahead log is checkpointed.
    private static let checkpointDistance = 10
    /// The most consecutive steps that may fail to get closer to the end of the log, before commits have to wait for
    /// the rest.
    private static let followAttempts = 16
    /// How often tables are compared beside commits before commits have to wait for that.
    private static let compareAttempts = 5

    /// - Parameter names: The entities whose tables are rebuilt; if empty, all of them and the store's own annotation
    ///   tables.
    package init(
        _ engine: StorageEngine, _ names: [String] = [], options: RebuildOptions = RebuildOptions(),
        pace: Pace = Pace(), progress: @escaping @Sendable (RebuildProgress) -> Void = { _ in }
    ) {
        self.engine = engine
        self.names = names
        self.options = options
        self.pace = pace
        self.progress = progress
    }

    /// - Throws: `CancellationError` if the task is cancelled before the tables are swapped: the next rebuild resumes
    ///   from what was done.
    package func run() async throws -> RebuildReport {
        try await engine.rebuilding {
            try await run { entities, report, meter in
                if options.swaps {
                    try await install(entities, into: &report, meter: meter)
                } else {
                    try await abandon(entities)
                }
            }
        }
    }

    /// Makes the new tables beside the old ones, and leaves both: ``RebuildWriter/restoreRows(_:)`` uses them, and
    /// ``abandon(_:)`` drops them.
    ///
    /// - Returns: The entities that have a new table.
    func build() async throws -> (entities: Set<UInt32>, report: RebuildReport) {
        var made: Set<UInt32> = []
        let report = try await engine.rebuilding { try await run { entities, _, _ in made = entities } }
        return (made, report)
    }

    func abandon(_ entities: Set<UInt32>) async throws {
        try await engine.withWriter { try RebuildWriter(writer: $0, db: $1).abandon(entities) }
    }

    /// - Parameter finish: Swaps the new tables with the old ones, drops them, or leaves them.
    private func run(
        finish: (Set<UInt32>, inout RebuildReport, RebuildMeter) async throws -> Void
    ) async throws -> RebuildReport {
        let meter = RebuildMeter(progress)
        var report = RebuildReport()
        while true {
            do {
                let positions = try await begin()
                if report.resumedAt == 0 {
                    let ofUsers = positions.filter { !CatalogEntity.isReserved($0.key) }
                    report.resumedAt = ofUsers.values.min() ?? 0
                }
                let entities = Set(positions.keys)
                meter.start(positions, head: engine.committed.position)
                let loaded = try await load(positions, meter)
                if lag(loaded) > 0 { try await follow(entities, meter) }
                try await abandoningOnFailure(entities) {
                    if options.compares { try await compare(entities, into: &report, meter: meter) }
                    try await finish(entities, &report, meter)
                }
                return report
            } catch is RebuildWriter.Outdated {
                // A migration came in between: shadows that still fit are resumed.
                continue
            }
        }
    }

    /// Drops every shadow and every kept table, and removes the files of rebuilt projections.
    package static func abandon(_ engine: StorageEngine) async throws {
        if engine.isFile { ProjectionRebuildFile.removeAll(besides: engine.path) }
        try await engine.withWriter { writer, db in try RebuildWriter(writer: writer, db: db).abandonAll() }
    }

    private func begin() async throws -> [UInt32: Int64] {
        let (names, options) = (names, options)
        return try await engine.withWriter { writer, db in
            if options.swaps { try LogCompleteness.check(writer.database) }
            let annotations = CatalogEntity.reserved.filter { CatalogEntity.isAnnotation($0.id) }
            let entities =
                try names.isEmpty
                ? writer.catalog.live + annotations : names.map { try Self.entity($0, writer.catalog) }
            for entity in entities where options.keepsOld {
                try RetainedTable.checkFree(RetainedTable.name(of: entity), of: entity.name, writer.database)
            }
            // Now, and not only when the new tables are complete.
            if options.compares { try ForeignSchemaChange.checkColumns(of: entities, in: writer.database) }
            return try RebuildWriter(writer: writer, db: db).begin(entities)
        }
    }

    private static func entity(_ name: String, _ catalog: Catalog) throws -> CatalogEntity {
        if let entity = catalog.live.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) { return entity }
        throw StorageError(
            .notFound, "There is no entity \"\(name)\" to rebuild.",
            remedy: StorageError.existing(catalog.live.map(\.name)))
    }

    /// Fills the shadows window by window of the log: while the writer applies one, the next is read.
    ///
    /// - Returns: The position of each shadow.
    private func load(_ begun: [UInt32: Int64], _ meter: RebuildMeter) async throws -> [UInt32: Int64] {
        guard pace.collects else { return begun }
        // Later commits are followed afterwards.
        let goal = engine.committed.position
        var (positions, memory, unmoved) = (try await loadSorted(begun, through: goal, meter), pace.memory, 0)
        let spare = SpareMemory()
        var upcoming = try await window(after: positions, through: goal, memory, spare)
        while let read = upcoming {
            try Task.checkCancellation()
            guard case .success(let window) = read else {
                positions = try await advance(Set(positions.keys), meter)
                upcoming = try await self.window(after: positions, through: goal, memory, spare)
                continue
            }
            unmoved += window.memory
            if unmoved > Self.checkpointDistance * pace.memory {
                // While no window is being read.
                try await engine.withWriter { RebuildWriter(writer: $0, db: $1).checkpoint() }
                unmoved = 0
            }
            let reached = positions.merging(window.tables.map { ($0.entity.id, window.last) }) { $1 }
            let room = memory
            async let following = self.window(after: reached, through: goal, behind: window, room, spare)
            do {
                let head = try await take(window, isInterruptible: room > Self.leastMemory)
                positions = reached
                meter.update(positions, head: head)
                upcoming = try await following
                spare.give(window.legacy)
                memory = min(room * 2, pace.memory)
            } catch is RebuildWriter.Interrupted {
                _ = try await following
                memory = max(room / 4, Self.leastMemory)
                upcoming = try await self.window(after: positions, through: goal, behind: window, memory, spare)
            } catch let error as StorageError where error.code == .conflict {
                // Two rows that exchange unique values must be changed in the original order, event by event.
                _ = try await following
                positions = try await advance(Set(positions.keys), meter)
                upcoming = try await self.window(after: positions, through: goal, behind: window, memory, spare)
            }
        }
        return positions
    }

    /// Fills empty shadows with rows that are sorted beforehand.
    ///
    /// - Returns: The position of each shadow: the beginning if their rows can't be sorted, or aren't to be.
    private func loadSorted(
        _ begun: [UInt32: Int64], through goal: Int64, _ meter: RebuildMeter
    ) async throws -> [UInt32: Int64] {
        let end = min(goal, pace.mostSortedEvents)
        let entities = Set(begun.keys)
        guard end > 0, begun.values.allSatisfy({ $0 == 0 }),
            let windows = try await sortedWindows(entities, through: end, meter)
        else { return begun }
        var (memory, unmoved) = (min(pace.memory, Self.leastMemory), 0)
        do {
            while let part = try await next(of: windows, memory: memory) {
                try Task.checkCancellation()
                let head = try await take(part.window, isInterruptible: part.isAll)
                meter.update(begun.mapValues { _ in Int64(Double(end) * (1 + part.fraction) / 2) }, head: head)
                // While commits wait, a step must be short.
                memory = engine.hasWaitingCommits ? Self.leastMemory : min(memory * 2, pace.memory)
                unmoved += part.window.memory
                if unmoved > Self.checkpointDistance * pace.memory {
                    try await engine.withWriter { RebuildWriter(writer: $0, db: $1).checkpoint() }
                    unmoved = 0
                }
                windows.reuse(part.window)
            }
        } catch is RebuildWriter.Interrupted {
            return begun
        } catch {
            // In a conflict, a row of then may violate a constraint that its table got later.
            guard error is NotSorted || (error as? StorageError)?.code == .conflict else { throw error }
            try await engine.withWriter { try RebuildWriter(writer: $0, db: $1).startOver(entities) }
            return begun
        }
        return try await engine.withWriter { try RebuildWriter(writer: $0, db: $1).reach(end, entities) }
    }

    /// Thrown if the temporary file fails, for example because its disk is full.
    private struct NotSorted: Error {}

    private func next(of windows: SortedWindows, memory: Int) async throws -> SortedWindows.Part? {
        do {
            // Merging may have to be waited for, which must not block a thread of tasks.
            return try await withCheckedThrowingContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(with: Result { try windows.next(memory: memory) }) }
            }
        } catch let error as StorageError where error.isOfTheMachine {
            throw NotSorted()
        }
    }

    /// - Returns: Nil if rows can't be sorted, or aren't to be.
    private func sortedWindows(
        _ entities: Set<UInt32>, through end: Int64, _ meter: RebuildMeter
    ) async throws -> SortedWindows? {
        // A store in memory has one connection, which would be in use until all is sorted.
        let (pace, mayBeWorthIt) = (pace, engine.isFile && end >= pace.leastSortedEvents)
        return try await engine.readLong { db in
            let connection = try db.connection
            let catalog = try Catalog.load(connection)
            let entities = entities.sorted().compactMap(catalog.entity(id:))
            guard NetWindow.takes(entities),
                pace.sorts ?? (mayBeWorthIt && Self.hasManyVersions(catalog, through: end, in: connection))
            else { return nil }
            do {
                return try SortedWindows(
                    of: entities, through: end, from: LogReader(connection),
                    pace: SortedWindows.Pace(memory: pace.memory, keepsGone: true, seeksNeeded: pace.seeksNeeded)
                ) { reached in
                    try Task.checkCancellation()
                    meter.update(Dictionary(uniqueKeysWithValues: entities.map { ($0.id, reached / 2) }))
                }
            } catch is NetWindow.Unordered {
                return nil
            } catch let error as StorageError where error.isOfTheMachine {
                // Mostly the temporary file: if it is the store's, reading without sorting fails, too.
                return nil
            }
        }
    }

    /// Whether the log has several events for each row that the tables have now.
    private static func hasManyVersions(_ catalog: Catalog, through end: Int64, in database: Connection) -> Bool {
        var rest = end / manyVersions
        for entity in catalog.live where rest > 0 {
            do {
                let count = try PreparedStatement(
                    database, "SELECT count(*) FROM (SELECT 1 FROM \(quoted(entity.stored)) LIMIT ?1)")
                count.bind(rest, at: 1)
                if try count.step() { rest -= count.integer(0) }
            } catch {
                // It may be what a rebuild repairs.
                return false
            }
        }
        return rest > 0
    }

    /// Events that shadows still lack, counted for each.
    private func lag(_ positions: [UInt32: Int64]) -> Int64 {
        let head = engine.committed.position
        return positions.values.reduce(0) { $0 + max(head - $1, 0) }
    }

    /// Reads the next window of the log for the shadows that are furthest behind.
    ///
    /// - Parameter earlier: The previous window.
    /// - Returns: Nil if the shadows have reached the goal, or can only be replayed event by event; a failure if the next events have
    ///   to be.
    private func window(
        after positions: [UInt32: Int64], through goal: Int64, behind earlier: NetWindow? = nil, _ memory: Int,
        _ spare: SpareMemory
    ) async throws -> Result<NetWindow, NetWindow.Unordered>? {
        let pace = pace
        let seeksNeeded = pace.seeksNeeded ?? earlier?.isWorthSeeking(through: goal) ?? false
        let known = earlier?.needed
        return try await engine.readLong { db in
            let connection = try db.connection
            guard let low = positions.values.min(), low < goal else { return nil }
            let catalog = try Catalog.load(connection)
            let entities = positions.filter { $0.value == low }.keys.sorted().compactMap(catalog.entity(id:))
            guard NetWindow.takes(entities) else { return nil }
            let reader = LogReader(connection)
            var end = min(positions.values.filter { $0 > low }.min() ?? goal, goal)
            var needed = known?.covers(low + 1, entities) == true ? known : nil
            if seeksNeeded, needed == nil {
                needed = try NeededEvents(of: entities, in: low + 1...min(end, low + NeededEvents.limit), reader)
            }
            if let needed { end = min(end, needed.positions.upperBound) }
            var window = NetWindow(entities, after: low, needed: needed, limit: memory, memory: spare.take())
            let batches = try BatchIterator(window.first...end, of: reader)
            do {
                try window.fill(through: end, from: batches, eventLimit: pace.limit, gap: pace.gap) { _ in
                    try Task.checkCancellation()
                }
            } catch let error as NetWindow.Unordered {
                return .failure(error)
            }
            return .success(window)
        }
    }

    private func take(_ window: NetWindow, isInterruptible: Bool) async throws -> Int64 {
        let patience = pace.patience
        return try await engine.withWriter { [engine] writer, db in
            let started = ContinuousClock.now
            return try RebuildWriter(writer: writer, db: db).take(window) {
                guard isInterruptible, engine.hasWaitingCommits, ContinuousClock.now - started > patience else {
                    return
                }
                throw RebuildWriter.Interrupted()
            }
        }
    }

    /// Replays the log until the shadows have reached its end, or don't get closer because commits are faster. The rest
    /// is done when the tables are swapped, while commits wait.
    private func follow(_ entities: Set<UInt32>, _ meter: RebuildMeter) async throws {
        var nearest = Int64.max
        var stalls = 0
        while stalls < Self.followAttempts {
            try Task.checkCancellation()
            let gap = lag(try await advance(entities, meter))
            if gap == 0 { return }
            stalls = gap < nearest ? 0 : stalls + 1
            nearest = min(nearest, gap)
        }
    }

    /// Replays the log event by event, for one step.
    ///
    /// - Returns: The position of each shadow.
    private func advance(_ entities: Set<UInt32>, _ meter: RebuildMeter) async throws -> [UInt32: Int64] {
        while true {
            do {
                let (positions, head) = try await engine.withWriter { writer, db in
                    try RebuildWriter(writer: writer, db: db).advance(entities, until: stopper())
                }
                meter.update(positions, head: head)
                return positions
            } catch let error as StorageError where error.code == .conflict {
                // A historical row may violate a constraint that its table got later.
                let isLoosened = try await engine.withWriter {
                    try RebuildWriter(writer: $0, db: $1).dropConstraints(entities)
                }
                guard isLoosened else { throw error }
            }
        }
    }

    /// Ends a step in time.
    private func stopper() -> (Int) -> Bool {
        let started = ContinuousClock.now
        return { count in
            if count >= pace.limit { return true }
            let taken = ContinuousClock.now - started
            return taken >= (engine.hasWaitingCommits ? pace.patience : pace.step)
        }
    }
}

// MARK: Comparing and swapping

extension Rebuild {
    private func compare(
        _ entities: Set<UInt32>, into report: inout RebuildReport, meter: RebuildMeter
    ) async throws {
        meter.enter(.comparing)
        // Beside commits where they leave a moment in which the shadows are as far as the tables; else commits wait.
        for _ in 0..<Self.compareAttempts {
            let found = try await engine.readLong { db in try Self.compare(entities, db) }
            if let found { return take(found, &report) }
            try await follow(entities, meter)
        }
        let found = try await engine.withWriter { writer, db in
            _ = try RebuildWriter(writer: writer, db: db).advance(entities) { _ in false }
            return try Self.compare(entities, db)
        }
        guard let found else { throw RebuildWriter.Outdated() }
        take(found, &report)
    }

    private func take(_ found: RebuildReport, _ report: inout RebuildReport) {
        let resumedAt = report.resumedAt
        report = found
        report.resumedAt = resumedAt
    }

    /// - Returns: Nil if the shadows haven't reached the end of the log.
    private static func compare(_ entities: Set<UInt32>, _ db: GRDB.Database) throws -> RebuildReport? {
        let connection = try db.connection
        let head = try LogReader(connection).head().position
        let catalog = try Catalog.load(connection)
        let compared = entities.sorted().compactMap(catalog.entity(id:)).filter { !$0.isDropped }
        try ForeignSchemaChange.checkColumns(of: compared, in: connection)
        var found = RebuildReport()
        found.position = head
        for shadow in try ShadowTable.load(connection) where entities.contains(shadow.entity) {
            guard shadow.position == head else { return nil }
            guard let entity = catalog.entity(id: shadow.entity), shadow.fits(catalog) else {
                throw RebuildWriter.Outdated()
            }
            let rows = try shadow.compare(with: entity, in: connection) { difference in
                found.add(RebuildReport.Difference(entity.name, difference))
                return true
            }
            if !entity.isReserved { found.rows[entity.name] = rows }
        }
        return found
    }

    private func install(
        _ entities: Set<UInt32>, into report: inout RebuildReport, meter: RebuildMeter
    ) async throws {
        try Task.checkCancellation()
        meter.enter(.swapping)
        let keepsOld = options.keepsOld
        let (rows, position, kept) = try await engine.withWriter { writer, db in
            let rows = try RebuildWriter(writer: writer, db: db).install(entities, keepsOld: keepsOld)
            let kept = writer.catalog.live.filter { keepsOld && entities.contains($0.id) }.map {
                ($0.name, RetainedTable.name(of: $0))
            }
            return (rows, writer.head.position, Dictionary(uniqueKeysWithValues: kept))
        }
        report.rows = rows
        report.position = position
        report.kept = kept
        report.isSwapped = true
    }

    /// Runs `body`, and drops the shadows if it fails in a way that the next rebuild would, too: they are as large as their tables.
    private func abandoningOnFailure(_ entities: Set<UInt32>, _ body: () async throws -> Void) async throws {
        do {
            try await body()
        } catch {
            if !Self.leavesShadows(error) {
                // The reason why nothing was replaced is the relevant error; a rebuild resumes what is left.
                try? await abandon(entities)
            }
            throw error
        }
    }

    /// Whether a rebuild that ends with an error can be resumed.
    private static func leavesShadows(_ error: any Error) -> Bool {
        if error is RebuildWriter.Outdated || error is CancellationError { return true }
        guard let error = error as? StorageError else { return false }
        return error.code == .interrupted || error.code == .busy || error.isOfTheMachine
    }
}
