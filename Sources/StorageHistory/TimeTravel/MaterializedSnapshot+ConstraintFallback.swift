internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageLog
internal import Synchronization

/// Makes the tables of a snapshot: with the constraints of the live ones, and without where a row of the past breaks one.
extension MaterializedSnapshot {
    /// Makes an entity's table and fills it, where that wasn't done yet.
    func fill(_ entity: CatalogEntity, in db: GRDB.Database, from live: GRDB.Database) throws {
        if filled.withLock({ $0.contains(entity.id) }) { return }
        let source = try live.connection
        let target = try db.connection
        let entity = try withDeclaredDefaults(entity, of: source)
        // An attempt that failed may have left it.
        unconstrained.withLock { _ = $0.remove(entity.id) }
        try target.execute("PRAGMA cache_size = -\(Self.fillingKibibytes)")
        // A larger cache than is needed is no harm.
        defer { try? target.execute("PRAGMA cache_size = -\(Self.readingKibibytes)") }
        defer { AttachedStore.detach(from: target) }
        try PreparedStatement(target, "BEGIN").execute()
        do {
            do {
                try make(entity, like: source, in: target)
                try undoOrReplay(entity, in: target, from: source)
            } catch let error as StorageError where error.code == .conflict && !isUnconstrained(entity) {
                // A row of the past may break a constraint that its table got later.
                try PreparedStatement(target, "DROP TABLE \(quoted(entity.stored))").execute()
                try makeUnconstrained(entity, in: target)
                try undoOrReplay(entity, in: target, from: source)
            }
            try PreparedStatement(target, "COMMIT").execute()
        } catch {
            // The error that made it necessary is the one that matters.
            try? PreparedStatement(target, "ROLLBACK").execute()
            throw error
        }
        // GRDB remembers schemas that it hasn't made.
        db.clearSchemaCache()
        filled.withLock { _ = $0.insert(entity.id) }
    }

    /// Makes an entity's table with the rows that the live one holds, whatever the log says of them.
    func copy(_ entity: CatalogEntity, in db: GRDB.Database, from live: GRDB.Database) throws {
        let (source, target) = (try live.connection, try db.connection)
        try make(entity, like: source, in: target)
        try TableCopy(from: source, to: target).run(entity.stored)
        db.clearSchemaCache()
        filled.withLock { _ = $0.insert(entity.id) }
    }

    /// A column that came with a recreated table brought no default to the rows from before: their new values are
    /// events. What its declaration says stands for them before that.
    func withDeclaredDefaults(_ entity: CatalogEntity, of source: Connection) throws -> CatalogEntity {
        guard schema == .current, let past = recordedCatalog.entity(id: entity.id) else { return entity }
        var entity = entity
        let defaults = DefaultValues()
        let select = try PreparedStatement(
            source, "SELECT name, dflt_value, type FROM pragma_table_info(?1) WHERE dflt_value NOTNULL")
        select.bind(text: entity.stored, at: 1)
        while try select.step() {
            let name = try select.row.text(at: 0)
            guard let columnIndex = entity.columns.firstIndex(where: { !$0.isDropped && $0.stored == name }),
                entity.columns[columnIndex].fallback == .null, entity.columns[columnIndex].origin == 0,
                !past.columns.contains(where: { $0.id == entity.columns[columnIndex].id })
            else { continue }
            entity.columns[columnIndex].fallback = try defaults.value(
                of: select.string(1), type: select.string(2), isStrict: entity.isStrict)
        }
        return entity
    }

    /// An empty table with the very SQL of the live one, so that it compares and sorts like it.
    private func make(_ entity: CatalogEntity, like source: Connection, in target: Connection) throws {
        let select = try PreparedStatement(
            source, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1 COLLATE NOCASE")
        select.bind(text: entity.stored, at: 1)
        guard schema == .current, try select.step() else { return try makeUnconstrained(entity, in: target) }
        try PreparedStatement(target, select.string(0)).execute()
    }

    /// An empty table of the same columns without constraints.
    ///
    /// Keys are compared by their bytes, as the log does it: what was one key to the collation of another time may be
    /// two.
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

    /// The entity's table by its own name, with no memory of deleted rows.
    func target(_ entity: CatalogEntity) -> Fold.Target {
        Fold.Target(
            entity: entity, table: quoted(entity.stored), column: { quoted($0.stored) }, tombstones: nil,
            comparesBytes: isUnconstrained(entity))
    }

    /// The memory of SQLite's cache while a table is filled, in the order of the log: keys and rows are written in any place, and
    /// a page that doesn't stay in memory is written to the temporary file for each of them.
    private static let fillingKibibytes = 32_000
    /// The same once it is filled, as there may be several snapshots. It is SQLite's own.
    private static let readingKibibytes = 2_000
}
