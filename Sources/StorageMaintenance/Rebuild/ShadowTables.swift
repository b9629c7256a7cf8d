internal import CSQLite
internal import GRDB
internal import StorageCore
internal import StorageEntities
internal import StorageHistory
internal import StorageLog

/// What a rebuild does on the writer: makes shadows, lets them follow the log, and puts them in the place of the
/// tables.
///
/// Each call is one transaction. Not `Sendable`: used on the writer's queue only.
struct ShadowTables {
    /// The schema changed under a rebuild; what no longer fits is to be begun again.
    struct Outdated: Error {}
    /// Somebody waits for the writer; nothing of the step was kept.
    struct Interrupted: Error {}

    let writer: LogWriter
    let db: GRDB.Database

    /// The shadows of these entities.
    ///
    /// - Throws: ``Outdated`` where one is missing or no longer fits.
    private func shadows(_ entities: Set<UInt32>) throws -> [Shadow] {
        let shadows = try Shadow.load(writer.database).filter { entities.contains($0.entity) }
        guard shadows.count == entities.count, shadows.allSatisfy({ $0.fits(writer.catalog) }) else { throw Outdated() }
        return shadows
    }

    // MARK: Beginning

    /// Makes a shadow for each entity that hasn't one that fits.
    ///
    /// - Returns: How far each shadow is.
    func begin(_ entities: [CatalogEntity]) throws -> [UInt32: Int64] {
        try writer.maintenance(db) {
            var positions: [UInt32: Int64] = [:]
            for shadow in try Shadow.load(writer.database) {
                if shadow.isResumable(writer.catalog) {
                    positions[shadow.entity] = shadow.position
                } else {
                    try drop(shadow.entity)
                }
            }
            for entity in entities where positions[entity.id] == nil {
                // Foreign keys would tie the shadow to tables that live on: a deletion there would reach into it.
                try make(entity, isLoose: try hasForeignKeys(entity))
            }
            return Dictionary(uniqueKeysWithValues: entities.map { ($0.id, positions[$0.id] ?? 0) })
        }
    }

    private func hasForeignKeys(_ entity: CatalogEntity) throws -> Bool {
        let select = try PreparedStatement(writer.database, "SELECT 1 FROM pragma_foreign_key_list(?1)")
        select.bind(text: entity.stored, at: 1)
        return try select.step()
    }

    /// Begins again with shadows that take whatever comes.
    ///
    /// - Returns: Whether there were any that don't.
    func loosen(_ entities: Set<UInt32>) throws -> Bool {
        try writer.maintenance(db) {
            let strict = try shadows(entities).filter { !$0.isLoose }
            for shadow in strict {
                guard let entity = writer.catalog.entity(id: shadow.entity) else { throw Outdated() }
                try drop(entity.id)
                try make(entity, isLoose: true)
            }
            return !strict.isEmpty
        }
    }

    /// Takes shadows away.
    func abandon(_ entities: Set<UInt32>) throws {
        try writer.maintenance(db) {
            for shadow in try Shadow.load(writer.database) where entities.contains(shadow.entity) {
                try drop(shadow.entity)
            }
        }
    }

    /// Takes every shadow and every kept table away.
    func abandonAll() throws {
        try writer.maintenance(db) {
            for shadow in try Shadow.load(writer.database) { try drop(shadow.entity) }
            for table in try RetainedTable.all(writer.database) {
                try PreparedStatement(writer.database, "DROP TABLE \(quoted(table))").execute()
            }
        }
    }

    private func drop(_ entity: UInt32) throws {
        try PreparedStatement(writer.database, "DROP TABLE IF EXISTS \(Shadow.table(entity))").execute()
        try writer.statement("DELETE FROM storage_shadow WHERE entity = ?1").run(Int64(entity))
        try writer.statement("DELETE FROM storage_shadow_tombstone WHERE entity = ?1").run(Int64(entity))
    }

    private func make(_ entity: CatalogEntity, isLoose: Bool) throws {
        if isLoose {
            let columns = entity.live.map { column in
                quoted(column.stored)
                    + (column.fallback == .null ? "" : " DEFAULT \(ScratchTables.literal(column.fallback))")
            }
            let key = entity.key.map { quoted($0.stored) }.joined(separator: ", ")
            let list = (columns + ["_position", "PRIMARY KEY (\(key))"]).joined(separator: ", ")
            try PreparedStatement(writer.database, "CREATE TABLE \(Shadow.table(entity.id)) (\(list))").execute()
        } else {
            try makeStrict(entity, named: Shadow.table(entity.id))
        }
        try Shadow(
            entity: entity.id, position: 0, definition: Catalog.text(of: entity.definition), isLoose: isLoose
        ).save(writer)
    }

    /// An empty table with the very SQL of the entity's as the log knows it, with no indexes yet.
    private func makeStrict(_ entity: CatalogEntity, named name: String) throws {
        guard let sql = TableSQL.renaming(entity.definitions.table, to: name) else {
            throw StorageError.corruptLog("the definition of \"\(entity.name)\" can't be read")
        }
        try PreparedStatement(writer.database, sql).execute()
    }

    // MARK: Following the log

    /// Lets the shadows that are furthest behind follow the log for a while, until `isEnough` says so.
    ///
    /// - Returns: How far each shadow is, and where the log ends.
    func advance(
        _ entities: Set<UInt32>, until isEnough: (_ events: Int) -> Bool
    ) throws -> (positions: [UInt32: Int64], head: Int64) {
        try writer.maintenance(db, changesSchema: false) {
            let shadows = try follow(try shadows(entities), until: isEnough)
            return (Dictionary(uniqueKeysWithValues: shadows.map { ($0.entity, $0.position) }), writer.head.position)
        }
    }

    private func follow(_ shadows: [Shadow], until isEnough: (_ events: Int) -> Bool) throws -> [Shadow] {
        let head = writer.head.position
        guard let low = shadows.map(\.position).min(), low < head else { return shadows }
        // Those further ahead wait until the others have come up with them; then all go on together.
        let limit = shadows.map(\.position).filter { $0 > low }.min() ?? head
        let targets = try shadows.filter { $0.position == low }.map(target)
        let fold = Fold(writer.database, targets: targets, checks: false)
        var reached = limit
        var events = 0
        try LogReader(writer.database).forEachBatch(in: low + 1...limit, where: fold.wants) { batch in
            try fold.apply(batch, in: low + 1...limit)
            events += batch.count
            guard isEnough(events), batch.header.last < limit else { return true }
            reached = batch.header.last
            return false
        }
        return try shadows.map { shadow in
            guard shadow.position == low else { return shadow }
            var shadow = shadow
            shadow.position = reached
            try shadow.save(writer)
            return shadow
        }
    }

    private func target(_ shadow: Shadow) throws -> Fold.Target {
        guard let entity = writer.catalog.entity(id: shadow.entity) else { throw Outdated() }
        // A column that was added later stands with its default for rows from before.
        return Fold.Target(
            entity: entity, table: shadow.table, column: { quoted($0.stored) }, tombstones: "storage_shadow_tombstone",
            hasTombstones: shadow.position > 0)
    }

    /// Lets the shadows of a window's tables take it in, all of it or nothing.
    ///
    /// - Parameter check: Called now and then; may throw to stop.
    /// - Returns: Where the log ends.
    func take(_ window: NetWindow, check: () throws -> Void) throws -> Int64 {
        try passing {
            try writer.maintenance(db, changesSchema: false) {
                var shadows = try shadows(Set(window.tables.map(\.entity.id)))
                for (index, table) in window.tables.enumerated() {
                    guard let known = shadows.firstIndex(where: { $0.entity == table.entity.id }),
                        shadows[known].position == window.first - 1,
                        writer.catalog.entity(id: table.entity.id) == table.entity
                    else { throw Outdated() }
                    try window.apply(index, to: target(shadows[known]), in: writer.database, check: check)
                    shadows[known].position = window.last
                }
                // Last: a page that is changed early and late is written early and late, and where a page comes again
                // in a transaction SQLite reads all that it wrote behind it once more.
                for shadow in shadows { try shadow.save(writer) }
                return writer.head.position
            }
        }
    }

    /// Runs a step that passes through many pages and comes back to few: a larger page cache would only take memory,
    /// and a much smaller one would give up pages that are written once more, whereupon SQLite reads all that it has
    /// written behind them again.
    private func passing<Result>(_ body: () throws -> Result) throws -> Result {
        let current = try PreparedStatement(writer.database, "PRAGMA cache_size")
        let size = try current.step() ? current.integer(0) : 0
        current.reset()
        try pragma("cache_size = -8000")
        // Can fail only where the connection is lost, and then nothing follows.
        defer { try? pragma("cache_size = \(size)") }
        return try body()
    }

    /// Brings what was committed into the file, so that what comes next needn't wait behind it.
    ///
    /// While a reader looks at an older state, commits can't do it themselves, and the write-ahead log grows.
    func checkpoint() {
        // A reader that is in the way makes it do less, not fail.
        sqlite3_wal_checkpoint_v2(writer.database.handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    }

    // MARK: Taking the tables' places

    /// Lets the shadows come up with the log and puts them in the place of the entities' tables, wholly or not at all;
    /// then makes what follows from the tables: indexes, triggers, full-text indexes, projections.
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

    /// Rebuilds tables that another program has dropped, with their full-text indexes; for opening a store.
    func remakeMissing() throws {
        let missing = writer.missingEntities
        guard !missing.isEmpty else { return }
        try replacing {
            for entity in missing {
                try drop(entity.id)
                try make(entity, isLoose: true)
            }
            _ = try installAll(Set(missing.map(\.id)), keepsOld: false)
            try FullTextProjection(writer).rebuild(missing, in: writer)
        }
    }

    /// A transaction in which tables change places: references to them must neither fire nor follow meanwhile.
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
            // What the store keeps for itself is repaired silently.
            let count = try install(shadow, as: entity, keepsOld: keepsOld && !entity.isReserved)
            if !entity.isReserved { rows[entity.name] = count }
        }
        // SQLite empties a whole table without looking at its rows.
        let isLast = try Shadow.load(writer.database).isEmpty
        let condition = isLast ? "" : " WHERE entity NOT IN (SELECT entity FROM storage_shadow)"
        try writer.statement("DELETE FROM storage_shadow_tombstone\(condition)").execute()
        return rows
    }

    private func pragma(_ text: String) throws { try PreparedStatement(writer.database, "PRAGMA \(text)").execute() }

    private func install(_ shadow: Shadow, as entity: CatalogEntity, keepsOld: Bool) throws -> Int {
        let table = quoted(entity.stored)
        let fresh = try strict(shadow, entity)
        let count = try PreparedStatement(writer.database, "SELECT count(*) FROM \(fresh)")
        let rows = try count.step() ? Int(count.integer(0)) : 0
        count.reset()
        if keepsOld { try RetainedTable.keep(entity.stored, as: RetainedTable.name(of: entity), writer.database) }
        // Its indexes and triggers go with it; those that the log knows come with the new one.
        try PreparedStatement(writer.database, "DROP TABLE IF EXISTS \(table)").execute()
        try PreparedStatement(writer.database, "ALTER TABLE \(fresh) RENAME TO \(table)").execute()
        for sql in entity.definitions.rest { try PreparedStatement(writer.database, sql).execute() }
        try takeTombstones(entity.id)
        try writer.statement("DELETE FROM storage_shadow WHERE entity = ?1").run(Int64(entity.id))
        return rows
    }

    /// The shadow as a table with the entity's constraints.
    private func strict(_ shadow: Shadow, _ entity: CatalogEntity) throws -> String {
        guard shadow.isLoose else { return shadow.table }
        let name = quoted("storage_strict_\(entity.id)")
        try makeStrict(entity, named: name)
        let list = (entity.live.map { quoted($0.stored) } + ["_position"]).joined(separator: ", ")
        try PreparedStatement(
            writer.database, "INSERT OR ABORT INTO \(name)(\(list)) SELECT \(list) FROM \(shadow.table)"
        )
        .execute()
        try PreparedStatement(writer.database, "DROP TABLE \(shadow.table)").execute()
        return name
    }

    /// Most often they are what they were: comparing takes less than writing them again.
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
