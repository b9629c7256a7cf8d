internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageHistory
package import StorageLog

/// Reconciles the log with tables that a migration has recreated under an entity's name.
///
/// SQLite can't change constraints, so migrations create another table, copy the rows, drop the old one and rename. The
/// capture hook sees none of that. The entity's rows are folded from the log, and every difference to the new table
/// becomes an event of the current commit, so that the log explains the rows.
package struct RecreatedTableReconciliation {
    private let writer: LogWriter

    package init(_ writer: LogWriter) { self.writer = writer }

    /// Part of the current commit, after the statements of the migration.
    package func reconcile() throws {
        try writer.schemaChanged()
        for entity in writer.replacedEntities { try reconcile(entity) }
    }

    private func reconcile(_ entity: CatalogEntity) throws {
        try writer.asEngine {
            if try !hasPositions(entity) {
                try run("ALTER TABLE \(quoted(entity.stored)) ADD COLUMN _position INTEGER NOT NULL DEFAULT 0")
            }
        }
        let adopted = try writer.adoptReplacement(entity)
        let old = try foldOld(adopted)
        try writer.captureReplacement(adopted, in: old)
        try compare(adopted, with: old)
        let keys = Self.condition(matchingKeysOf: adopted)
        try writer.asEngine {
            // Users' triggers must not react to the engine's bookkeeping.
            writer.database.setTriggersEnabled(false)
            defer { writer.database.setTriggersEnabled(true) }
            try run(
                """
                UPDATE \(quoted(adopted.stored)) AS n
                SET _position = (SELECT o._position FROM \(quoted(old)) AS o WHERE \(keys))
                """)
            try run("DROP TABLE \(quoted(old))")
        }
        try writer.finishReplacement(adopted)
    }

    /// Matches row `n` of the new table with row `o` of the old one if their keys are identical: '2' and 2 are two rows, as in the
    /// log. The new table's types and collations may consider others equal. The first comparison finds rows of the new table by its
    /// key, the second those of the old one, and both find a few more.
    private static func condition(matchingKeysOf entity: CatalogEntity) -> String {
        entity.key.map { column in
            let name = quoted(column.stored)
            return "n.\(name) IS o.\(name) AND o.\(name) IS +n.\(name) AND storage_identical(n.\(name), o.\(name))"
        }.joined(separator: " AND ")
    }

    private func run(_ sql: String) throws { try PreparedStatement(writer.database, sql).execute() }

    private func hasPositions(_ entity: CatalogEntity) throws -> Bool {
        let select = try PreparedStatement(
            writer.database, "SELECT 1 FROM temp.pragma_table_info(?) WHERE name = '_position' COLLATE NOCASE")
        select.bind(text: entity.stored, at: 1)
        return try select.step()
    }

    /// Creates a table without types and constraints, with the entity's rows according to the log and the columns of the new table:
    /// one that it lacks could hide the rowid.
    private func foldOld(_ entity: CatalogEntity) throws -> String {
        let name = "replaced \(entity.id)"
        try writer.asEngine {
            let columns = entity.live.map { quoted($0.stored) } + ["_position"]
            let key = entity.key.map { quoted($0.stored) }.joined(separator: ", ")
            try run("CREATE TABLE \(quoted(name)) (\(columns.joined(separator: ", ")), PRIMARY KEY (\(key)))")
            try run(
                "CREATE TEMP TABLE IF NOT EXISTS replaced_tombstone(entity, key, position, PRIMARY KEY (entity, key))")
            let target = Fold.Target(
                entity: entity, table: quoted(name), column: { quoted($0.stored) }, tombstones: "replaced_tombstone")
            let fold = Fold(writer.database, targets: [target], checks: false)
            if writer.head.position > 0 {
                try LogReader(writer.database).forEachBatch(in: 1...writer.head.position, where: fold.wants) { batch in
                    try fold.apply(batch)
                    return true
                }
            }
            try writer.withPendingEvents { try fold.apply($0, first: $1) }
            try run("DROP TABLE replaced_tombstone")
        }
        return name
    }

    /// Makes the old table equal to the new one, with capture looking.
    private func compare(_ entity: CatalogEntity, with old: String) throws {
        let names = (entity.key + entity.live.filter { $0.keyOrdinal == 0 }).map { quoted($0.stored) }
        let list = names.joined(separator: ", ")
        let (new, old) = (quoted(entity.stored), quoted(old))
        let rowid = try entity.rowid
        let keys = Self.condition(matchingKeysOf: entity)
        let same = names.map { "storage_identical(n.\($0), o.\($0))" }.joined(separator: " AND ")
        // Collected first, because the old table is changed while it is compared.
        try writer.asEngine {
            try run("DROP TABLE IF EXISTS temp.replaced_difference")
            try run(
                """
                CREATE TEMP TABLE replaced_difference AS
                SELECT n.\(rowid) AS new, o.\(rowid) AS old FROM \(new) AS n LEFT JOIN \(old) AS o ON \(keys)
                WHERE o.\(rowid) IS NULL OR NOT (\(same))
                """)
        }
        let differences = try PreparedStatement(
            writer.database, "SELECT new, old FROM temp.replaced_difference ORDER BY new")
        let insert = try PreparedStatement(
            writer.database,
            "INSERT INTO \(old)(\(list), _position) SELECT \(list), ?2 FROM \(new) WHERE \(rowid) = ?1")
        let update = try PreparedStatement(
            writer.database,
            """
            UPDATE \(old) SET (\(list)) = (SELECT \(list) FROM \(new) WHERE \(rowid) = ?1), _position = ?2
            WHERE \(rowid) = ?3
            """)
        try run("DELETE FROM \(old) AS o WHERE NOT EXISTS (SELECT 1 FROM \(new) AS n WHERE \(keys))")
        while try differences.step() {
            let isThere = !differences.row.isNull(at: 1)
            let change = isThere ? update : insert
            change.bind(differences.integer(0), at: 1)
            change.bind(writer.nextPosition, at: 2)
            if isThere { change.bind(differences.integer(1), at: 3) }
            try change.execute()
        }
        differences.reset()
        try writer.asEngine { try run("DROP TABLE temp.replaced_difference") }
    }
}
