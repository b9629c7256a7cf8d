internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageHistory
internal import StorageLog
internal import StorageProjections

/// Truncates a copy of a store to the end of a commit. The copy is discarded if that fails, so nothing can be undone in
/// it.
///
/// Not `Sendable`: it belongs to the connection's thread.
struct StoreTruncation {
    private let database: Connection
    private let position: Int64
    private let progress: (_ done: Int, _ all: Int) -> Void

    init(_ database: Connection, to position: Int64, progress: @escaping (Int, Int) -> Void) {
        self.database = database
        self.position = position
        self.progress = progress
    }

    /// - Returns: The rows of each table.
    func run() throws -> [String: Int64] {
        // Guards and users' triggers must not fire; the verification checks references afterwards.
        database.setTriggersEnabled(false)
        defer { database.setTriggersEnabled(true) }
        try run("PRAGMA foreign_keys = OFF")
        try run("BEGIN")
        let now = try Catalog.load(database)
        let then = try Catalog.load(database, at: position)
        let indexes = try FullTextIndex.load(database)
        try dropDerived(indexes)
        let leavesCommits = try LogReader(database).head().position > position
        let entities = CatalogEntity.reserved + then.live
        try fold(entities)
        var rowids: [UInt32: [String]] = [:]
        for entity in then.live {
            guard let old = now.entity(id: entity.id) else { continue }
            rowids[entity.id] = try KeptRowids(of: old, database).assign(to: loose(entity), as: entity)
        }
        // Another program may have dropped or renamed one.
        for entity in now.live { try run("DROP TABLE IF EXISTS \(quoted(entity.stored))") }
        try LogTruncation.run(database, through: position)
        var rows: [String: Int64] = [:]
        for entity in then.live { rows[entity.name] = try make(entity, rowids: rowids[entity.id] ?? []) }
        for entity in CatalogEntity.reserved {
            try run("DELETE FROM \(quoted(entity.stored))")
            _ = try fill(entity, rowids: [])
        }
        try restoreBookkeeping(then, leavesCommits: leavesCommits)
        for entity in then.live { try RowidCounter(of: entity, database).advance() }
        for index in indexes { try make(index, then) }
        try WriteGuard.install(then, database)
        try run("COMMIT")
        return rows
    }

    private func run(_ sql: String) throws { try PreparedStatement(database, sql).execute() }

    // MARK: Rows

    private func loose(_ entity: CatalogEntity) -> String { "temp." + quoted("storage_restored_\(entity.id)") }

    /// Folds the rows from the log, in tables without types and constraints: a historical row may violate constraints
    /// that its table got later.
    private func fold(_ entities: [CatalogEntity]) throws {
        try run(
            "CREATE TEMP TABLE storage_restored_tombstone(entity, key, position, PRIMARY KEY (entity, key)) WITHOUT ROWID"
        )
        var targets: [Fold.Target] = []
        for entity in entities {
            let columns = entity.live.map { quoted($0.stored) + $0.defaultClause }
            let key = entity.key.map { quoted($0.stored) }.joined(separator: ", ")
            try run(
                "CREATE TABLE \(loose(entity))(\((columns + ["_position"]).joined(separator: ", ")), PRIMARY KEY (\(key)))"
            )
            targets.append(
                Fold.Target(
                    entity: entity, table: loose(entity), column: { quoted($0.stored) },
                    tombstones: "storage_restored_tombstone"))
        }
        guard position > 0 else { return }
        let fold = Fold(database, targets: targets, checks: false)
        try LogReader(database).forEachBatch(in: 1...position, where: fold.wants) { batch in
            try fold.apply(batch, in: 1...position)
            progress(Int(min(batch.header.last, position)), Int(position))
            return true
        }
    }

    /// Makes the table of an entity as the catalog has it, then its rows, then its indexes and triggers.
    ///
    /// - Parameter rowids: What ``KeptRowids`` returned for it.
    private func make(_ entity: CatalogEntity, rowids: [String]) throws -> Int64 {
        let taken = try PreparedStatement(database, "SELECT type FROM sqlite_schema WHERE name = ? COLLATE NOCASE")
        taken.bind(text: entity.stored, at: 1)
        if try taken.step() {
            throw StorageError(
                .conflict,
                "The table of \"\(entity.name)\" can't be made: there is a \(taken.string(0)) \"\(entity.stored)\" without history now.",
                remedy: "Rename it in a copy of the backup, and restore from that.")
        }
        taken.reset()
        try entity.statements.table.run(on: database)
        let rows = try fill(entity, rowids: rowids)
        try AttachedObjects.make(of: entity, in: database)
        return rows
    }

    private func fill(_ entity: CatalogEntity, rowids: [String]) throws -> Int64 {
        let columns = (rowids + entity.live.map { quoted($0.stored) } + ["_position"]).joined(separator: ", ")
        try run(
            "INSERT OR ABORT INTO \(quoted(entity.stored))(\(columns)) SELECT \(columns) FROM \(loose(entity)) ORDER BY rowid"
        )
        let rows = Int64(database.changes)
        try run("DROP TABLE \(loose(entity))")
        return rows
    }

    // MARK: What is derived

    /// Programs make their projections again when they open the store.
    private func dropDerived(_ indexes: [FullTextIndex]) throws {
        for projection in try StoredProjection.all(in: database) { try projection.tables.drop(from: database) }
        try run("DELETE FROM storage_projection WHERE kind <> 'full-text'")
        try run("DELETE FROM storage_checkpoint")
        try run("DELETE FROM storage_dead_letter")
        for index in indexes { try run("DROP TABLE \(quoted(index.table))") }
        // What a rebuild has left unfinished, or kept.
        for table in try ShadowTable.tables(database) { try run("DROP TABLE IF EXISTS \(quoted(table))") }
        for table in ["storage_shadow", "storage_shadow_tombstone"] { try run("DELETE FROM \(table)") }
    }

    /// Keeps a full-text index if its entity and columns exist at the point.
    private func make(_ index: FullTextIndex, _ catalog: Catalog) throws {
        guard let entity = catalog.entity(id: index.entity), !entity.isDropped,
            index.columns.allSatisfy({ id in entity.live.contains { $0.id == id } })
        else {
            let forget = try PreparedStatement(database, "DELETE FROM storage_projection WHERE name = ?")
            forget.bind(text: index.name, at: 1)
            return try forget.execute()
        }
        try run(index.sql(catalog))
        try run("INSERT INTO \(quoted(index.table))(\(quoted(index.table))) VALUES ('rebuild')")
    }

    /// - Parameter leavesCommits: Whether the log had commits after the point.
    private func restoreBookkeeping(_ then: Catalog, leavesCommits: Bool) throws {
        let live = (CatalogEntity.reserved + then.live).map { String($0.id) }.joined(separator: ", ")
        try PreparedStatement(database, "DELETE FROM storage_tombstone WHERE position > ?1 OR entity IN (\(live))").run(
            position)
        try run("INSERT INTO storage_tombstone SELECT entity, key, position FROM storage_restored_tombstone")
        try run("DROP TABLE storage_restored_tombstone")
        try PreparedStatement(database, "DELETE FROM storage_commit_key WHERE last > ?1").run(position)
        try StoreLineage.begin(after: position, in: database)
        // Of the commits that an import has stored, some are no longer there.
        if leavesCommits { try run("DELETE FROM storage_import") }
    }
}
