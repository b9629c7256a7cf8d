internal import GRDB
internal import StorageCore
package import StorageLog

/// Makes entity tables again from the log beside the old ones, while commits go on, and then lets them take their
/// places in one transaction.
///
/// What it has done is in the store with each step, so a rebuild that is cancelled or killed is taken up by the next
/// one. Isolation: `Sendable`; one task runs it.
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
        /// How long it may hold the writer while nobody waits: what a kill throws back.
        package var step: Duration = .milliseconds(500)
        /// Events or rows after which a step ends in any case.
        package var limit = Int.max
        /// Whether rows are collected newest image first where that is cheaper.
        package var collects = true

        package init() {}
    }

    private static let differenceLimit = 20

    /// - Parameter names: The entities whose tables are to be made again; all where empty, those of the store itself but the catalog too.
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

    /// - Throws: `CancellationError` where the task is cancelled before the tables take their places: what was done is
    ///   kept for the next rebuild.
    package func run() async throws -> RebuildReport {
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
                try await collect(entities.filter { positions[$0] == 0 }, meter)
                try await follow(entities, meter)
                if options.compares { report.differences = try await compare(entities, &report, meter) }
                guard options.swaps else {
                    try await engine.withWriter { try ShadowTables(writer: $0, db: $1).abandon(entities) }
                    return report
                }
                try await install(entities, &report, meter)
                return report
            } catch is ShadowTables.Outdated {
                // A migration came in between: what it left in place is gone on with.
                continue
            }
        }
    }

    /// Takes away every shadow and every kept table.
    package static func abandon(_ engine: StorageEngine) async throws {
        try await engine.withWriter { writer, db in try ShadowTables(writer: writer, db: db).abandonAll() }
    }

    private func begin() async throws -> [UInt32: Int64] {
        let names = names
        return try await engine.withWriter { writer, db in
            let remarks = CatalogEntity.reserved.filter { CatalogEntity.isRemark($0.id) }
            let entities =
                try names.isEmpty
                ? writer.catalog.live + remarks : names.map { try Self.entity($0, writer.catalog) }
            return try ShadowTables(writer: writer, db: db).begin(entities)
        }
    }

    private static func entity(_ name: String, _ catalog: Catalog) throws -> CatalogEntity {
        if let entity = catalog.live.first(where: { $0.name.utf8.elementsEqual(name.utf8) }) { return entity }
        throw StorageError(
            .notFound, "There is no entity \"\(name)\" to rebuild.",
            remedy: "There is \(catalog.live.map(\.name).joined(separator: ", ")).")
    }

    /// Fills empty shadows with newest images, several at once, where that is cheaper than replaying every event.
    private func collect(_ entities: Set<UInt32>, _ meter: RebuildMeter) async throws {
        guard pace.collects, !entities.isEmpty else { return }
        let paying = try await engine.read { db in try Self.paying(entities, db) }
        // Each holds the keys of one table in memory; more of them at once than cores would only wait.
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, entity) in paying.enumerated() {
                if number >= 2 { try await group.next() }
                group.addTask { try await collect(entity, meter) }
            }
            try await group.waitForAll()
        }
    }

    /// The entities whose rows have many versions, as far as the store's size tells.
    private static func paying(_ entities: Set<UInt32>, _ db: GRDB.Database) throws -> [CatalogEntity] {
        guard let connection = db.sqliteConnection else { throw StorageError.closed() }
        let catalog = try Catalog.load(connection)
        let events = try LogReader(connection).head().position
        var rows: [UInt32: Int64] = [:]
        for entity in catalog.live {
            let count = try Statement(connection, "SELECT count(*) FROM \(quoted(entity.stored))")
            rows[entity.id] = try count.step() ? count.integer(0) : 0
        }
        let all = rows.values.reduce(0, +)
        guard events > all * 4 else { return [] }
        return catalog.live.filter {
            entities.contains($0.id) && LastImages.pays($0, events: events, rows: rows[$0.id] ?? 0)
        }
    }

    private func collect(_ entity: CatalogEntity, _ meter: RebuildMeter) async throws {
        let isCancelled = { @Sendable in try Task.checkCancellation() }
        let images = try await engine.read { db -> CollectedImages? in
            guard let connection = db.sqliteConnection else { throw StorageError.closed() }
            let head = try LogReader(connection).head().position
            guard head > 0 else { return nil }
            return try CollectedImages.collect(entity, from: connection, through: head) { position in
                try isCancelled()
                meter.update(entity.id, head - position)
            }
        }
        guard let images else { return meter.update(entity.id, 0) }
        while true {
            try Task.checkCancellation()
            let isComplete = try await engine.withWriter { writer, db in
                try ShadowTables(writer: writer, db: db).copy(images, until: stopper())
            }
            if isComplete { return meter.update(entity.id, images.position) }
        }
    }

    /// Replays what the shadows lack, until they are as far as the log, or don't come nearer to its end because commits
    /// come in faster. The rest is done when the tables change places, while commits wait.
    private func follow(_ entities: Set<UInt32>, _ meter: RebuildMeter) async throws {
        var nearest = Int64.max
        var stalls = 0
        while stalls < 16 {
            try Task.checkCancellation()
            do {
                let (positions, head) = try await engine.withWriter { writer, db in
                    try ShadowTables(writer: writer, db: db).advance(entities, until: stopper())
                }
                meter.update(positions, head: head)
                let gap = positions.values.reduce(0) { $0 + head - $1 }
                if gap == 0 { return }
                stalls = gap < nearest ? 0 : stalls + 1
                nearest = min(nearest, gap)
            } catch let error as StorageError where error.code == .conflict {
                // A row of the past may break a constraint that its table got later.
                let isLoosened = try await engine.withWriter {
                    try ShadowTables(writer: $0, db: $1).loosen(entities)
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
        _ entities: Set<UInt32>, _ report: inout RebuildReport, _ meter: RebuildMeter
    ) async throws -> [RebuildReport.Difference] {
        meter.enter(.comparing)
        // Beside commits where they leave a moment in which the shadows are as far as the tables; else commits wait.
        for _ in 0..<5 {
            let found = try await engine.read { db in try Self.compare(entities, db) }
            if let found {
                (report.rows, report.position) = (found.rows, found.position)
                return found.differences
            }
            try await follow(entities, meter)
        }
        let found = try await engine.withWriter { writer, db in
            _ = try ShadowTables(writer: writer, db: db).advance(entities) { _ in false }
            return try Self.compare(entities, db)
        }
        guard let found else { throw ShadowTables.Outdated() }
        (report.rows, report.position) = (found.rows, found.position)
        return found.differences
    }

    private struct Comparison: Sendable {
        var rows: [String: Int] = [:]
        var differences: [RebuildReport.Difference] = []
        var position: Int64
    }

    /// - Returns: nil where the shadows aren't as far as the log.
    private static func compare(_ entities: Set<UInt32>, _ db: GRDB.Database) throws -> Comparison? {
        guard let connection = db.sqliteConnection else { throw StorageError.closed() }
        let head = try LogReader(connection).head().position
        let catalog = try Catalog.load(connection)
        var found = Comparison(position: head)
        for shadow in try Shadow.load(connection) where entities.contains(shadow.entity) {
            guard shadow.position == head else { return nil }
            guard let entity = catalog.entity(id: shadow.entity), shadow.fits(catalog) else {
                throw ShadowTables.Outdated()
            }
            let columns = entity.key + entity.live.filter { $0.keyPlace == 0 }
            let names = columns.map { quoted($0.stored) }
            let comparison = RowComparison(keyCount: entity.key.count, names: columns.map(\.name) + ["_position"])
            let rows = try comparison.run(
                Statement(connection, Verifier.select(shadow.table, names, keys: entity.key.count)),
                Statement(connection, Verifier.select(quoted(entity.stored), names, keys: entity.key.count))
            ) { difference in
                found.differences.append(RebuildReport.Difference(entity.name, difference))
                return found.differences.count < differenceLimit
            }
            if !entity.isReserved { found.rows[entity.name] = rows }
        }
        return found
    }

    private func install(
        _ entities: Set<UInt32>, _ report: inout RebuildReport, _ meter: RebuildMeter
    ) async throws {
        try Task.checkCancellation()
        meter.enter(.swapping)
        let keepsOld = options.keepsOld
        let (rows, position, kept) = try await engine.withWriter { writer, db in
            let rows = try ShadowTables(writer: writer, db: db).install(entities, keepsOld: keepsOld)
            let kept = writer.catalog.live.filter { keepsOld && entities.contains($0.id) }.map {
                ($0.name, Shadow.kept($0.id))
            }
            return (rows, writer.head.position, Dictionary(uniqueKeysWithValues: kept))
        }
        report.rows = rows
        report.position = position
        report.kept = kept
        report.isSwapped = true
    }
}
