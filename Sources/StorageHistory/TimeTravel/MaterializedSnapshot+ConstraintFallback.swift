internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageLog
internal import Synchronization

/// Creates the tables of a snapshot: with the constraints of the live ones, or without if a row of the past violates one.
extension MaterializedSnapshot {
    /// Creates an entity's table and fills it, if that wasn't done yet.
    ///
    /// - Parameter now: The entity as the store has it now; nil if it doesn't.
    func fill(
        _ entity: CatalogEntity, as now: CatalogEntity?, in db: GRDB.Database, from live: GRDB.Database
    ) throws {
        if filled.withLock({ $0.contains(entity.id) }) { return }
        let source = try live.connection
        let target = try db.connection
        source.forgetCompiledStatements()
        target.forgetCompiledStatements()
        let entity = try withDeclaredDefaults(entity, of: source)
        // A failed attempt may have added it.
        unconstrained.withLock { _ = $0.remove(entity.id) }
        try target.execute("PRAGMA cache_size = -\(Self.fillingKibibytes)")
        // A larger cache than needed does no harm.
        defer { try? target.execute("PRAGMA cache_size = -\(Self.readingKibibytes)") }
        defer { AttachedStore.detach(from: target) }
        try PreparedStatement(target, "BEGIN").execute()
        do {
            do {
                try make(entity, like: source, in: target)
                try undoOrReplay(entity, as: now, in: target, from: source)
            } catch let error as StorageError where error.code == .conflict && !isUnconstrained(entity) {
                // A row of the past may violate a constraint that its table got later.
                try PreparedStatement(target, "DROP TABLE \(quoted(entity.stored))").execute()
                try makeUnconstrained(entity, in: target)
                try undoOrReplay(entity, as: now, in: target, from: source)
            }
            try PreparedStatement(target, "COMMIT").execute()
        } catch {
            // The original error is the relevant one.
            try? PreparedStatement(target, "ROLLBACK").execute()
            throw error
        }
        // GRDB caches the schema, and doesn't notice changes that it hasn't made.
        db.clearSchemaCache()
        filled.withLock { _ = $0.insert(entity.id) }
    }

    /// Creates an entity's table with the rows of the live one and their rowids, without reading the log.
    func copy(_ entity: CatalogEntity, in db: GRDB.Database, from live: GRDB.Database) throws {
        let (source, target) = (try live.connection, try db.connection)
        try make(entity, like: source, in: target)
        // The rowid first: where it is the key, that column comes after it, and SQLite uses the last of both.
        let columns = [entity.rowidName].compactMap { $0 } + entity.live.map(\.stored) + ["_position"]
        try TableCopy(from: source, to: target).run(entity.stored, columns: columns)
        db.clearSchemaCache()
        filled.withLock { _ = $0.insert(entity.id) }
    }

    /// Sets the defaults of columns that a recreated table has added: older rows got their new values by events. Before those
    /// events, the declared default applies.
    func withDeclaredDefaults(_ entity: CatalogEntity, of source: Connection) throws -> CatalogEntity {
        guard schema == .current, let past = recordedCatalog.entity(id: entity.id) else { return entity }
        var entity = entity
        let defaults = DefaultValues()
        let select = try PreparedStatement(
            source, "SELECT name, dflt_value, type FROM temp.pragma_table_info(?1) WHERE dflt_value NOTNULL")
        select.bind(text: entity.stored, at: 1)
        while try select.step() {
            let name = try select.row.text(at: 0)
            guard let columnIndex = entity.columns.firstIndex(where: { !$0.isDropped && $0.stored == name }),
                entity.columns[columnIndex].fallback == .null, entity.columns[columnIndex].origin == 0,
                !past.columns.contains(where: { $0.id == entity.columns[columnIndex].id })
            else { continue }
            entity.columns[columnIndex].fallback = try defaults.value(
                of: select.string(1), type: select.string(2), isStrict: entity.isStrict, isAdded: false)
        }
        return entity
    }

    /// Creates an empty table with the exact SQL of the live one, so that it compares and sorts alike.
    ///
    /// - Throws: `corrupt` if that SQL isn't one statement that creates the table.
    func make(_ entity: CatalogEntity, like source: Connection, in target: Connection) throws {
        guard schema == .current, let creation = try SchemaStatement.table(entity.stored, of: source) else {
            return try makeUnconstrained(entity, in: target)
        }
        try creation.run(on: target)
    }

    /// Creates an empty table of the same columns without constraints.
    ///
    /// Keys are compared by their bytes, as in the log: keys that a collation of another time treated as equal may be two.
    private func makeUnconstrained(_ entity: CatalogEntity, in target: Connection) throws {
        let columns = try UnconstrainedColumns.columns(of: entity, in: target)
        let key = entity.key.map { "\(quoted($0.stored)) COLLATE BINARY" }.joined(separator: ", ")
        try PreparedStatement(
            target,
            "CREATE TABLE \(quoted(entity.stored)) (\(columns.joined(separator: ", ")), _position, PRIMARY KEY (\(key)))"
        ).execute()
        unconstrained.withLock { _ = $0.insert(entity.id) }
    }

    func isUnconstrained(_ entity: CatalogEntity) -> Bool { unconstrained.withLock { $0.contains(entity.id) } }

    /// The entity's table under its own name, without tombstones.
    func target(_ entity: CatalogEntity) -> Fold.Target {
        Fold.Target(
            entity: entity, table: quoted(entity.stored), column: { quoted($0.stored) }, tombstones: nil,
            comparesBytes: isUnconstrained(entity))
    }

    /// The size of SQLite's cache while a table is filled, in the order of the log: keys and rows are written at random
    /// positions, and a page that doesn't stay in memory is written to the temporary file each time.
    private static let fillingKibibytes = 32_000
    /// The size once it is filled, as there may be several snapshots. It is SQLite's default.
    private static let readingKibibytes = 2_000
}
