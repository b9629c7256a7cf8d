package import GRDB
package import StorageCore
internal import StorageLog
internal import Synchronization

/// Reads a few rows of large tables without creating these.
extension MaterializedSnapshot {
    /// Runs `body`, which reads no other table, on a table that may be a view (see ``LiveOverlay``) or, if it reads
    /// only the rows that meet a condition, have fewer rows (see ``KeyedRows``). If reads of views have taken as long
    /// as a copy would, or reads of fewer rows are many, the table is created.
    ///
    /// - Parameter condition: A condition without SQL that all rows meet that `body` reads; nil if it may read any row.
    /// - Throws: The errors of `body`; `not-found` for a name that isn't an entity's.
    package func readRows<Result>(
        of table: String, matching condition: RowPredicate? = nil, from live: GRDB.Database,
        _ body: (GRDB.Database) throws -> Result
    ) throws -> Result {
        if let (entity, rows) = try uncopied(table, of: live) {
            let source = try live.connection
            let distance = try LogReader(source).head().position - position
            // A row is copied in 1 µs.
            if distance <= LiveOverlay.maximumDistance, rows >= Self.largeRows + distance * Self.rowsPerEvent,
                timeOfViews.withLock({ $0 < .microseconds(rows) })
            {
                let started = ContinuousClock.now
                defer { timeOfViews.withLock { $0 += ContinuousClock.now - started } }
                do {
                    let entity = try withDeclaredDefaults(entity, of: source)
                    return try LiveOverlay.read(entity, at: position, of: live, body)
                } catch is LiveOverlay.Unsupported {}
            }
            if let condition, let keyed = KeyedRows(of: entity, where: condition, at: position, source: source),
                countKeyedRead(of: entity)
            {
                do {
                    return try read(keyed, of: entity, from: live, body)
                } catch is KeyedRows.Unsupported {}
            }
        }
        return try read([table], from: live, body)
    }

    /// Runs `body` on a table that has no other rows, and is undone afterwards.
    ///
    /// - Throws: ``KeyedRows/Unsupported`` before `body` runs; what `body` throws.
    private func read<Result>(
        _ rows: KeyedRows, of entity: CatalogEntity, from live: GRDB.Database,
        _ body: (GRDB.Database) throws -> Result
    ) throws -> Result {
        let source = try live.connection
        return try database.writeWithoutTransaction { db in
            // Another read may have created it.
            if filled.withLock({ $0.contains(entity.id) }) { return try db.readOnly { try body(db) } }
            let target = try db.connection
            try PreparedStatement(target, "BEGIN").execute()
            defer {
                // An error of `body` is the relevant one.
                try? PreparedStatement(target, "ROLLBACK").execute()
                db.clearSchemaCache()
            }
            do {
                try make(entity, like: source, in: target)
                try rows.insert(into: target)
            } catch let error as StorageError where !error.endsRead {
                throw KeyedRows.Unsupported()
            }
            // GRDB caches the schema, and doesn't notice changes that it hasn't made.
            db.clearSchemaCache()
            return try db.readOnly { try body(db) }
        }
    }

    /// Counts a read of few rows of an entity's table.
    ///
    /// - Returns: false if there were so many that the table is to be created.
    private func countKeyedRead(of entity: CatalogEntity) -> Bool {
        keyedReads.withLock { reads in
            reads[entity.id, default: 0] += 1
            return reads[entity.id, default: 0] <= Self.maximumKeyedReads
        }
    }

    /// The entity of a table, and the number of its live rows, if it may be better not to create the table.
    private func uncopied(_ table: String, of live: GRDB.Database) throws -> (entity: CatalogEntity, rows: Int64)? {
        let entity = try entity(named: table)
        guard schema == .current, !filled.withLock({ $0.contains(entity.id) }) else { return nil }
        let source = try live.connection
        // Before the catalog is loaded, which costs much for a small table. One that was dropped can't be counted.
        let known = rowCounts.withLock { $0[entity.id] }
        guard let rows = known ?? (try? Self.count(entity, in: source)) else { return nil }
        rowCounts.withLock { $0[entity.id] = rows }
        guard rows >= Self.largeRows else { return nil }
        let (past, now) = (recordedCatalog.entity(id: entity.id), try Catalog.load(source).entity(id: entity.id))
        guard now == entity, past?.columns == entity.columns, past?.isDropped == false else { return nil }
        return (entity, rows)
    }

    /// Fewer rows are copied in the time that attaching the store takes.
    private static let largeRows: Int64 = 5_000
    /// So many more are copied in the time by which finding and undoing an event takes longer beside the live table
    /// than in a copy.
    private static let rowsPerEvent: Int64 = 10
    /// The number of reads of few rows of a table before it is created. It is no time, so that the load doesn't matter.
    static let maximumKeyedReads = 64
}

extension StorageError {
    /// Whether a read ends with this error, which says nothing about the way in which it was to be done.
    var endsRead: Bool { isOfTheMachine || code == .interrupted }
}
