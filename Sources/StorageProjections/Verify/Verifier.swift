internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageLog

/// Checks a whole store against its log: the file's structure, every row and event of the log, and that tables,
/// catalog, keys and tombstones are what the log says they are.
///
/// Runs inside one read transaction, so it sees one state while others write. Not `Sendable`.
package struct Verifier {
    private let database: OpaquePointer
    private let progress: (_ position: Int64, _ head: Int64) -> Void
    private var report = VerifyReport()

    package init(_ database: OpaquePointer, progress: @escaping (Int64, Int64) -> Void = { _, _ in }) {
        self.database = database
        self.progress = progress
    }

    /// - Throws: Only what keeps the check itself from running; damage is a finding.
    package mutating func run() -> VerifyReport {
        guarded("file") { try $0.checkFile() }
        guarded("schema") { try $0.checkSchema() }
        var catalog: Catalog?
        guarded("schema") { catalog = try Catalog.load($0.database) }
        guarded("log") { try $0.checkLog(catalog ?? Catalog()) }
        return report
    }

    /// Damage can make any statement fail; that is a finding, and the other checks go on.
    private mutating func guarded(_ kind: String, _ check: (inout Verifier) throws -> Void) {
        do {
            try check(&self)
        } catch let error as StorageError {
            report.add(kind, error.message)
        } catch {
            report.add(kind, "\(error)")
        }
    }
}

// MARK: File and schema

extension Verifier {
    private mutating func checkFile() throws {
        let check = try Statement(database, "PRAGMA integrity_check(20)")
        while try check.step() {
            let message = check.string(0)
            if message != "ok" { report.add("file", message) }
        }
        let foreign = try Statement(database, "PRAGMA foreign_key_check")
        if try foreign.step() { report.add("file", table: foreign.string(0), "a foreign key leads nowhere") }
    }

    private mutating func checkSchema() throws {
        let expected = StoreLayout.objects
        var found: [String: String] = [:]
        let select = try Statement(
            database, "SELECT name, sql FROM sqlite_schema WHERE name LIKE 'storage\\_%' ESCAPE '\\'")
        while try select.step() { found[select.string(0)] = select.string(1) }
        for (name, sql) in expected where found[name] != sql {
            report.add("schema", "\(name) isn't what StorageKit made")
        }
        let indexes = try FullTextIndex.load(database).flatMap { [$0.table] + $0.shadowTables }
        let projections = try ProjectionTables.load(database)
        for projection in projections {
            for finding in try projection.tables.findings(database) {
                report.add("schema", table: projection.name, finding)
            }
        }
        let known = Set(
            expected.map(\.name) + indexes + projections.flatMap { $0.tables.objects.keys }
                + (try Shadow.tables(database)))
        for name in found.keys.sorted() where !known.contains(name) {
            report.add("schema", "\(name) isn't one of StorageKit's tables")
        }
        guarded("schema") { try $0.checkCheckpoints(projections.map(\.name)) }
        let meta = try Statement(database, "SELECT count(*) FROM storage_meta")
        if try meta.step(), meta.integer(0) != 1 { report.add("schema", "storage_meta has \(meta.integer(0)) rows") }
    }
}

// MARK: Log

extension Verifier {
    /// Every projection has come to a position that there is, and nothing is remembered of others.
    private mutating func checkCheckpoints(_ names: [String]) throws {
        let head = try LogHead.load(database).position
        let select = try Statement(database, "SELECT projection, position FROM storage_checkpoint")
        var missing = Set(names)
        while try select.step() {
            let name = select.string(0)
            if missing.remove(name) == nil { report.add("projection", "\(name) has a checkpoint, but isn't there") }
            if !(0...head).contains(select.integer(1)) {
                report.add("projection", table: name, "is at @\(select.integer(1)), and the log ends at @\(head)")
            }
        }
        for name in missing.sorted() { report.add("projection", table: name, "has no checkpoint") }
        let letters = try Statement(database, "SELECT projection, position FROM storage_dead_letter")
        while try letters.step() {
            guard !names.contains(letters.string(0)) || !(1...max(head, 1)).contains(letters.integer(1)) else {
                continue
            }
            report.add("projection", table: letters.string(0), "has a dead letter @\(letters.integer(1)) of nothing")
        }
    }

    private mutating func checkLog(_ catalog: Catalog) throws {
        let scratch = try ScratchTables()
        let entities = CatalogEntity.reserved + catalog.live
        let fold = Fold(scratch.database, targets: try entities.map(scratch.target), checks: true)
        try Statement(scratch.database, "CREATE TABLE commit_key(key TEXT PRIMARY KEY, number, first, last, time)")
            .execute()
        let rememberKey = try Statement(
            scratch.database, "INSERT OR IGNORE INTO commit_key VALUES (?1, ?2, ?3, ?4, ?5)")
        let stretchKey = try Statement(scratch.database, "UPDATE commit_key SET last = ?2 WHERE key = ?1")
        try Statement(scratch.database, "BEGIN").execute()
        var walk = LogWalk()
        let reader = LogReader(database)
        let rows = try Statement(database, "SELECT position, last FROM storage_log ORDER BY position")
        let head = try reader.head()
        report.requested = head.position > 0 ? 1...head.position : nil
        while try rows.step() {
            let first = rows.integer(0)
            let last = rows.integer(1)
            do {
                guard first > 0, last >= first, let batch = try reader.batch(containing: first),
                    batch.header.first == first
                else { throw StorageError.corruptLog("row @\(first) can't be read") }
                walk.check(batch, &report)
                // Events whose predecessors are lost can't be judged.
                if report.notVerified.isEmpty {
                    // `report` can't be changed from two places at once, so the findings are collected first.
                    var found: [(Int64, String)] = []
                    try fold.apply(batch) { found.append(($0, $1)) }
                    for (position, message) in found { report.add("event", position: position, message) }
                }
                try walk.collectKeys(batch, rememberKey, stretchKey)
            } catch let error as StorageError {
                report.add("log", position: first, error.message)
                report.notVerified.append(max(first, 1)...max(last, first, 1))
                walk.skip(to: last)
            }
            progress(last, head.position)
        }
        walk.finish(head, &report)
        guard report.notVerified.isEmpty else { return }
        for entity in entities {
            guarded("projection") { try $0.compareTable(entity, scratch, definition: catalog.entity(id: entity.id)) }
        }
        guarded("full-text") { try $0.checkFullText(catalog, scratch) }
        guarded("tombstone") { try $0.compareTombstones(scratch) }
        guarded("commit-key") { try $0.compareKeys(scratch) }
    }

    private mutating func compareTable(
        _ entity: CatalogEntity, _ scratch: ScratchTables, definition: CatalogEntity?
    ) throws {
        if let definition, !definition.isReserved { try checkDefinition(definition) }
        let rest = entity.live.filter { $0.keyPlace == 0 }
        let columns = entity.key + rest
        let comparison = RowComparison(keyCount: entity.key.count, names: columns.map(\.name) + ["_position"])
        let expected = try Statement(
            scratch.database,
            Self.select(ScratchTables.table(of: entity), columns.map(ScratchTables.name), keys: entity.key.count))
        let actual = try Statement(
            database, Self.select(quoted(entity.stored), columns.map { quoted($0.stored) }, keys: entity.key.count))
        report.rows += try comparison.run(expected, actual) { difference in
            switch difference {
            case .missing(let key): report.add("projection", table: entity.name, "row \(key) is missing")
            case .extra(let key): report.add("projection", table: entity.name, "row \(key) isn't in the log")
            case .different(let key, let column, _, _):
                report.add("projection", table: entity.name, "row \(key) differs from the log in \"\(column)\"")
            }
            return !report.isTruncated
        }
    }

    private mutating func checkFullText(_ catalog: Catalog, _ scratch: ScratchTables) throws {
        for index in try FullTextIndex.load(database) {
            let check = FullTextCheck(index: index, catalog: catalog, database: database, scratch: scratch.database)
            guard let finding = try check.run() else { continue }
            report.add("full-text", table: catalog.entity(id: index.entity)?.name, finding)
        }
    }

    /// The rows of an entity's table, or of one like it, as they are compared.
    static func select(_ table: String, _ columns: [String], keys: Int) -> String {
        RowComparison.select(table, columns + ["_position"], keys: keys)
    }

    /// The table, its indexes and triggers as they are, against what the catalog recorded of them.
    private mutating func checkDefinition(_ entity: CatalogEntity) throws {
        guard try StoreLayout.definition(of: entity.stored, in: database) != entity.definition else { return }
        report.add("schema", table: entity.name, "the table, an index or a trigger isn't what the log says")
    }

    private mutating func compareTombstones(_ scratch: ScratchTables) throws {
        let comparison = RowComparison(keyCount: 2, names: ["entity", "key", "position"])
        let sql = "SELECT entity, key, position FROM %@ WHERE entity IN (%@) ORDER BY entity, key"
        let known = try Statement(scratch.database, "SELECT DISTINCT entity FROM tombstone")
        var entities: [String] = []
        while try known.step() { entities.append(String(known.integer(0))) }
        // Entities that are dropped by now weren't folded; their tombstones stay for `history`.
        let list = entities.joined(separator: ", ")
        let expected = try Statement(scratch.database, String(format: sql, "tombstone", list))
        let actual = try Statement(database, String(format: sql, "storage_tombstone", list))
        _ = try comparison.run(expected, actual) { difference in
            report.add("tombstone", "\(difference)")
            return !report.isTruncated
        }
    }

    private mutating func compareKeys(_ scratch: ScratchTables) throws {
        let comparison = RowComparison(keyCount: 1, names: ["key", "number", "first", "last", "time"])
        let sql = "SELECT key, number, first, last, time FROM %@ WHERE number > 0 ORDER BY key"
        let expected = try Statement(scratch.database, String(format: sql, "commit_key"))
        let actual = try Statement(database, String(format: sql, "storage_commit_key"))
        _ = try comparison.run(expected, actual) { difference in
            report.add("commit-key", "\(difference)")
            return !report.isTruncated
        }
    }
}
