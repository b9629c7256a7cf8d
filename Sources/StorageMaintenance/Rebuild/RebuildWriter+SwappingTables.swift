internal import GRDB
internal import StorageCore
internal import StorageEntities
internal import StorageHistory
internal import StorageLog

/// Replacing entities' tables with their shadows.
extension RebuildWriter {
    /// Brings the shadows to the end of the log and replaces the entities' tables with them, wholly or not at all; then
    /// recreates what depends on the tables: indexes, triggers, full-text indexes, projections.
    ///
    /// - Returns: The rows of each table.
    func install(_ entities: Set<UInt32>, keepsOld: Bool) throws -> [String: Int] {
        try replacing {
            let rows = try installAll(entities, keepsOld: keepsOld)
            let installed = entities.sorted().compactMap { writer.catalog.entity(id: $0) }
            for projection in writer.projections { try projection.rebuild(installed, in: writer) }
            return rows
        }
    }

    /// Rebuilds tables that another program has dropped, and full-text indexes that it has dropped or changed; for opening a
    /// store.
    func remakeMissing() throws {
        let missing = writer.missingEntities
        let damaged = try FullTextProjection.damaged(in: writer)
        guard !missing.isEmpty || !damaged.isEmpty else { return }
        try replacing {
            for entity in missing {
                try drop(entity.id)
                try make(entity, isUnconstrained: true)
            }
            _ = try installAll(Set(missing.map(\.id)), keepsOld: false)
            try FullTextProjection.remake(damaged, andOf: missing, in: writer)
        }
    }

    /// A transaction that replaces tables: meanwhile, references to them must neither be enforced nor follow a
    /// renaming.
    private func replacing<Result>(_ body: () throws -> Result) throws -> Result {
        try writer.with(settings: [("foreign_keys", "0"), ("legacy_alter_table", "1")]) {
            try passing { try writer.maintenance(db, body) }
        }
    }

    private func installAll(_ entities: Set<UInt32>, keepsOld: Bool) throws -> [String: Int] {
        var shadows = try shadows(entities)
        while shadows.contains(where: { $0.position < writer.head.position }) {
            shadows = try follow(shadows) { _ in false }
        }
        var rows: [String: Int] = [:]
        for shadow in shadows {
            guard let entity = writer.catalog.entity(id: shadow.entity) else { throw Outdated() }
            // The store's own tables aren't reported, and no copies of them are kept.
            let count = try install(shadow, as: entity, keepsOld: keepsOld && !entity.isReserved)
            if !entity.isReserved { rows[entity.name] = count }
        }
        // SQLite empties a whole table without looking at its rows.
        let isLast = try ShadowTable.load(writer.database).isEmpty
        let condition = isLast ? "" : " WHERE entity NOT IN (SELECT entity FROM storage_shadow)"
        try writer.statement("DELETE FROM storage_shadow_tombstone\(condition)").execute()
        // The former tables may have had columns of another program, which hid names that are free now.
        try writer.noteHiddenRowidNames()
        return rows
    }

    private func install(_ shadow: ShadowTable, as entity: CatalogEntity, keepsOld: Bool) throws -> Int {
        if !keepsOld { try checkIsNotAhead(of: shadow, entity) }
        let table = quoted(entity.stored)
        let rowids = try KeptRowids(of: entity, writer.database).assign(to: shadow.table, as: entity)
        let count = try PreparedStatement(writer.database, "SELECT count(*) FROM \(shadow.table)")
        let rows = try count.step() ? Int(count.integer(0)) : 0
        count.reset()
        let counter = RowidCounter(of: entity, writer.database)
        let assigned = try counter.value()
        if keepsOld { try RetainedTable.keep(entity.stored, as: RetainedTable.name(of: entity), writer.database) }
        // Its indexes and triggers go with it; those that the log knows come with the new one.
        try PreparedStatement(writer.database, "DROP TABLE IF EXISTS \(table)").execute()
        if shadow.isUnconstrained {
            try makeTable(of: entity, with: shadow, keeping: rowids)
        } else {
            try PreparedStatement(writer.database, "ALTER TABLE \(shadow.table) RENAME TO \(table)").execute()
        }
        try AttachedObjects.make(of: entity, in: writer.database)
        try takeTombstones(entity.id)
        try counter.advance(atLeast: assigned)
        try writer.statement("DELETE FROM storage_shadow WHERE entity = ?1").run(Int64(entity.id))
        return rows
    }

    /// Creates an entity's table, with its constraints, from the rows of the shadow.
    private func makeTable(of entity: CatalogEntity, with shadow: ShadowTable, keeping rowids: [String]) throws {
        try entity.statements.table.run(on: writer.database)
        let list = (rowids + entity.live.map { quoted($0.stored) } + ["_position"]).joined(separator: ", ")
        try PreparedStatement(
            writer.database,
            "INSERT OR ABORT INTO \(quoted(entity.stored))(\(list)) SELECT \(list) FROM \(shadow.table)"
        )
        .execute()
        try PreparedStatement(writer.database, "DROP TABLE \(shadow.table)").execute()
    }

    /// Replaces the entity's tombstones. They are mostly unchanged, and comparing costs less than writing them again.
    private func takeTombstones(_ entity: UInt32) throws {
        let tables = try ["storage_tombstone", "storage_shadow_tombstone"].map { table in
            let select = try writer.statement("SELECT key, position FROM \(table) WHERE entity = ?1 ORDER BY key")
            select.bind(Int64(entity), at: 1)
            return select
        }
        var isSame = true
        _ = try RowComparison(keyCount: 1, names: ["key", "position"]).run(tables[0], tables[1]) { _ in
            isSame = false
            return false
        }
        if isSame { return }
        let statements = [
            "DELETE FROM storage_tombstone WHERE entity = ?1",
            "INSERT INTO storage_tombstone SELECT entity, key, position FROM storage_shadow_tombstone WHERE entity = ?1",
        ]
        for sql in statements { try writer.statement(sql).run(Int64(entity)) }
    }
}
