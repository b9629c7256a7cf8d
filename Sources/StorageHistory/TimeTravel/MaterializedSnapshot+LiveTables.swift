package import GRDB
internal import StorageCore
package import StorageLog
internal import Synchronization

/// Reads a few rows of large tables without creating these.
extension MaterializedSnapshot {
    /// Runs `body`, which reads no other table, on a table that may be a view: see ``LiveOverlay``. If reads without a copy have taken as
    /// long as a copy would, the table is created.
    ///
    /// - Throws: The errors of `body`; `not-found` for a name that isn't an entity's.
    package func readRows<Result>(
        of table: String, from live: GRDB.Database, _ body: (GRDB.Database) throws -> Result
    ) throws -> Result {
        let started = ContinuousClock.now
        let distance = try distance(to: live)
        if distance <= LiveOverlay.maximumDistance,
            let entity = try uncopied(table, of: live, least: Self.largeRows + distance * Self.rowsPerEvent)
        {
            defer { addTime(since: started) }
            do {
                let target = try target(withDeclaredDefaults(entity, of: live.connection))
                return try LiveOverlay.read(target, at: position, of: live, body)
            } catch is LiveOverlay.Unsupported {}
        }
        return try read([table], from: live, body)
    }

    /// Runs `body`, which reads one row along its own events, if the table is large, doesn't exist here, and isn't needed more often.
    ///
    /// - Returns: nil if it wasn't run: the row is to be read from the table.
    /// - Throws: The errors of `body`; `not-found` for a name that isn't an entity's.
    package func readEvents<Result>(
        of table: String, from live: GRDB.Database, _ body: (CatalogEntity) throws -> Result
    ) throws -> Result? {
        let started = ContinuousClock.now
        guard try distance(to: live) > LiveOverlay.maximumDistance,
            let entity = try uncopied(table, of: live, least: Self.largeRows),
            // The log compares keys by their bytes.
            entity.key.allSatisfy({ $0.collation == CatalogColumn.binary })
        else { return nil }
        defer { addTime(since: started) }
        return try body(entity)
    }

    private func distance(to live: GRDB.Database) throws -> Int64 {
        try LogReader(live.connection).head().position - position
    }

    private func addTime(since started: ContinuousClock.Instant) {
        timeWithoutCopies.withLock { $0 += ContinuousClock.now - started }
    }

    /// The entity of a table, if it is better not to create the table.
    ///
    /// - Parameter least: The number of rows from which on that is so.
    private func uncopied(_ table: String, of live: GRDB.Database, least: Int64) throws -> CatalogEntity? {
        let entity = try entity(named: table)
        guard schema == .current, !filled.withLock({ $0.contains(entity.id) }) else { return nil }
        let source = try live.connection
        let (past, now) = (recordedCatalog.entity(id: entity.id), try Catalog.load(source).entity(id: entity.id))
        guard now == entity, past?.columns == entity.columns, past?.isDropped == false else { return nil }
        let known = rowCounts.withLock { $0[entity.id] }
        let rows = try known ?? Self.count(entity, in: source)
        rowCounts.withLock { $0[entity.id] = rows }
        return rows >= least && timeWithoutCopies.withLock { $0 } < .microseconds(rows) ? entity : nil
    }

    /// Fewer rows are copied in the time that attaching the store takes.
    private static let largeRows: Int64 = 5_000
    /// So many more are copied in the time by which finding and undoing an event takes longer beside the live table than in a copy.
    private static let rowsPerEvent: Int64 = 10
}
