internal import CSQLite
internal import Foundation
package import GRDB
internal import StorageCore
package import StorageLog

/// Makes entity tables again from the log: into shadow tables, then compared or swapped, all in one transaction, so
/// that whatever interrupts it leaves the store as it was.
package struct Rebuilder {
    package enum Mode: Sendable {
        /// Puts the rebuilt tables in the place of the old ones.
        case swap
        /// Only tells where the old tables differ from the rebuilt ones.
        case compare
    }

    package struct Outcome: Sendable {
        package var events = 0
        package var rows: [String: Int] = [:]
        package var differences: [(table: String, difference: RowComparison.Difference)] = []
    }

    private let writer: LogWriter
    private let db: GRDB.Database
    private let progress: (_ position: Int64, _ head: Int64) -> Void
    private static let differenceLimit = 20

    package init(
        _ writer: LogWriter, _ db: GRDB.Database, progress: @escaping (Int64, Int64) -> Void = { _, _ in }
    ) {
        self.writer = writer
        self.db = db
        self.progress = progress
    }

    /// - Parameter entities: The entities to rebuild; all where empty.
    package func run(_ entities: [CatalogEntity], mode: Mode) throws -> Outcome {
        let entities = entities.isEmpty ? writer.catalog.live + [.tag, .note] : entities
        // While tables change places, references to them must neither fire nor follow.
        try pragma("foreign_keys = OFF")
        try pragma("legacy_alter_table = ON")
        defer {
            // Both can fail only where the connection is lost, and then nothing follows.
            try? pragma("foreign_keys = ON")
            try? pragma("legacy_alter_table = OFF")
        }
        return try writer.maintenance(db) {
            var outcome = Outcome()
            try Statement(
                writer.database,
                """
                CREATE TEMP TABLE IF NOT EXISTS rebuilt_tombstone(
                  entity INTEGER, key BLOB, position INTEGER, PRIMARY KEY (entity, key)) WITHOUT ROWID
                """
            ).execute()
            outcome.events = try foldIntoShadows(entities)
            for entity in entities {
                switch mode {
                case .compare:
                    try compare(entity, &outcome)
                    try Statement(writer.database, "DROP TABLE \(shadow(entity))").execute()
                case .swap:
                    try swap(entity, &outcome)
                }
            }
            if mode == .swap {
                try swapTombstones(entities)
                for projection in writer.projections { try projection.rebuild(entities, in: writer) }
            }
            return outcome
        }
    }

    private func pragma(_ text: String) throws { try Statement(writer.database, "PRAGMA \(text)").execute() }

    private func shadow(_ entity: CatalogEntity) -> String { quoted("storage_shadow_\(entity.id)") }

    /// An empty table of the same columns, with no indexes yet.
    private func makeShadow(_ entity: CatalogEntity) throws -> Fold.Target {
        let select = try Statement(
            writer.database, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ? COLLATE NOCASE")
        select.bind(text: entity.stored, at: 1)
        guard try select.step(), let sql = TableSQL.renaming(select.string(0), to: shadow(entity)) else {
            throw StorageError.corruptLog("the table of entity \"\(entity.name)\" is gone")
        }
        select.reset()
        try Statement(writer.database, sql).execute()
        // A column that was added later stands with its default for rows from before.
        return Fold.Target(
            entity: entity, table: shadow(entity), column: { quoted($0.stored) }, tombstones: "rebuilt_tombstone")
    }

    private func foldIntoShadows(_ entities: [CatalogEntity]) throws -> Int {
        do {
            return try fold(entities.map(makeShadow))
        } catch let error as StorageError where error.code == .conflict {
            // A row of the past may break a constraint that its table got later.
            for entity in entities { try Statement(writer.database, "DROP TABLE \(shadow(entity))").execute() }
        }
        let events = try fold(entities.map(makeLoose))
        for entity in entities {
            _ = try makeShadow(entity)
            let columns = (entity.live.map { quoted($0.stored) } + ["_position"]).joined(separator: ", ")
            try Statement(
                writer.database, "INSERT INTO \(shadow(entity))(\(columns)) SELECT \(columns) FROM \(loose(entity))"
            ).execute()
            try Statement(writer.database, "DROP TABLE \(loose(entity))").execute()
        }
        return events
    }

    private func loose(_ entity: CatalogEntity) -> String { "temp." + quoted("rebuilt \(entity.id)") }

    /// An empty table of the same columns without types and constraints.
    private func makeLoose(_ entity: CatalogEntity) throws -> Fold.Target {
        let columns = entity.live.map { column in
            quoted(column.stored)
                + (column.fallback == .null ? "" : " DEFAULT \(ScratchTables.literal(column.fallback))")
        }
        let key = entity.key.map { quoted($0.stored) }.joined(separator: ", ")
        try Statement(
            writer.database,
            "CREATE TABLE \(loose(entity)) (\((columns + ["_position"]).joined(separator: ", ")), PRIMARY KEY (\(key)))"
        ).execute()
        return Fold.Target(
            entity: entity, table: loose(entity), column: { quoted($0.stored) }, tombstones: "rebuilt_tombstone")
    }

    private func fold(_ targets: [Fold.Target]) throws -> Int {
        try Statement(writer.database, "DELETE FROM rebuilt_tombstone").execute()
        let fold = Fold(writer.database, targets: targets, checks: false)
        let head = writer.head.position
        guard head > 0 else { return 0 }
        var events = 0
        try LogReader(writer.database).forEachBatch(in: 1...head, where: fold.wants) { batch in
            try fold.apply(batch)
            events += batch.count
            progress(batch.header.last, head)
            return true
        }
        return events
    }

    private func compare(_ entity: CatalogEntity, _ outcome: inout Outcome) throws {
        let columns = entity.key + entity.live.filter { $0.keyPlace == 0 }
        let comparison = RowComparison(keyCount: entity.key.count, names: columns.map(\.name) + ["_position"])
        let names = columns.map { quoted($0.stored) }
        let expected = try Statement(
            writer.database, Verifier.select(shadow(entity), names, keys: entity.key.count))
        let actual = try Statement(
            writer.database, Verifier.select(quoted(entity.stored), names, keys: entity.key.count))
        let rows = try comparison.run(expected, actual) { difference in
            outcome.differences.append((entity.name, difference))
            return outcome.differences.count < Self.differenceLimit
        }
        if !entity.isReserved { outcome.rows[entity.name] = rows }
    }

    private func swap(_ entity: CatalogEntity, _ outcome: inout Outcome) throws {
        let count = try Statement(writer.database, "SELECT count(*) FROM \(shadow(entity))")
        let rows = try count.step() ? Int(count.integer(0)) : 0
        if !entity.isReserved { outcome.rows[entity.name] = rows }
        count.reset()
        let dependents = try Statement(
            writer.database,
            """
            SELECT sql FROM sqlite_schema
            WHERE tbl_name = ? COLLATE NOCASE AND type IN ('index', 'trigger') AND sql IS NOT NULL ORDER BY type, name
            """)
        dependents.bind(text: entity.stored, at: 1)
        var texts: [String] = []
        while try dependents.step() { texts.append(dependents.string(0)) }
        dependents.reset()
        try Statement(writer.database, "DROP TABLE \(quoted(entity.stored))").execute()
        try Statement(
            writer.database, "ALTER TABLE \(shadow(entity)) RENAME TO \(quoted(entity.stored))"
        ).execute()
        for text in texts { try Statement(writer.database, text).execute() }
    }

    private func swapTombstones(_ entities: [CatalogEntity]) throws {
        let list = entities.map { String($0.id) }.joined(separator: ", ")
        try Statement(writer.database, "DELETE FROM storage_tombstone WHERE entity IN (\(list))").execute()
        try Statement(
            writer.database, "INSERT INTO storage_tombstone SELECT entity, key, position FROM rebuilt_tombstone"
        )
        .execute()
    }
}
