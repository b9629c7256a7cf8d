internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageEntities
internal import StorageHistory
package import StorageLog

/// Verifies a whole store against its log: the file's structure, every segment and event of the log, and that tables,
/// catalog, keys and tombstones match the log.
///
/// Runs inside one read transaction, so it sees one state while others write. Not `Sendable`.
package struct Verifier {
    let database: Connection
    private let end: AcknowledgedEnd?
    private let progress: (_ position: Int64, _ head: Int64) -> Void
    var report = VerifyReport()

    /// - Parameter end: The log's end as known from outside the store, noted before the transaction began; nil if only
    ///   the file is available.
    package init(
        _ database: Connection, end: AcknowledgedEnd? = nil,
        progress: @escaping (Int64, Int64) -> Void = { _, _ in }
    ) {
        self.database = database
        self.end = end
        self.progress = progress
    }

    /// - Throws: `io-error` or `out-of-memory` if the machine kept the check from completing and no damage was found
    ///   before: the result is unknown then. Damage is a finding.
    package mutating func run() throws -> VerifyReport {
        do {
            try guarded("write-ahead-log") { try $0.checkEnd() }
            try guarded("file") { try $0.checkFile() }
            try guarded("schema") { try $0.checkSchema() }
            var catalog: Catalog?
            try guarded("schema") { catalog = try Catalog.load($0.database) }
            try guarded("bookkeeping") { try $0.checkBookkeeping(catalog ?? Catalog()) }
            try guarded("log") { try $0.checkLog(catalog ?? Catalog()) }
        } catch {
            guard !report.isSound else { throw error }
            // Any finding is damage, even if the rest couldn't be checked.
            report.isTruncated = true
        }
        return report
    }

    /// Damage can make any statement fail; that is a finding, and the other checks continue.
    mutating func guarded(_ kind: String, _ check: (inout Verifier) throws -> Void) throws {
        do {
            try check(&self)
        } catch let error as StorageError where error.isOfTheMachine {
            throw error
        } catch let error as StorageError {
            report.add(kind, error.message)
        } catch {
            report.add(kind, "\(error)")
        }
    }
}

// MARK: Log

extension Verifier {
    /// Nil if the last segment is invalid, which checking the log reports.
    private func headPosition() throws -> Int64? {
        do {
            return try LogHead.load(database).position
        } catch let error as StorageError where !error.isOfTheMachine {
            return nil
        }
    }

    /// Whether the log ends where it must.
    private mutating func checkEnd() throws {
        guard let end else { return }
        for loss in try end.losses(head: headPosition()) {
            if loss.isDamage {
                report.add("write-ahead-log", loss.message)
            } else {
                report.warnings.append(
                    VerifyReport.Finding(kind: "write-ahead-log", position: nil, table: nil, message: loss.message))
            }
        }
    }

    private mutating func checkLog(_ catalog: Catalog) throws {
        let scratch = try ScratchTables()
        let entities = CatalogEntity.reserved + catalog.live
        let fold = Fold(scratch.database, targets: try entities.map(scratch.target), checks: true)
        try PreparedStatement(
            scratch.database, "CREATE TABLE commit_key(key TEXT PRIMARY KEY, number, first, last, time)"
        )
        .execute()
        let rememberKey = try PreparedStatement(
            scratch.database, "INSERT OR IGNORE INTO commit_key VALUES (?1, ?2, ?3, ?4, ?5)")
        let extendKey = try PreparedStatement(scratch.database, "UPDATE commit_key SET last = ?2 WHERE key = ?1")
        try PreparedStatement(scratch.database, "BEGIN").execute()
        var walk = LogContinuityCheck()
        let reader = LogReader(database)
        var digests = try DigestChainCheck(database)
        let rows = try PreparedStatement(
            database, "SELECT position, last, sealed, digest FROM storage_log ORDER BY position")
        // The check of the indexes reports an error.
        let searched = Set((try? FullTextIndex.load(database).map(\.entity)) ?? [])
        let head = try readHead(reader)
        report.requested = head.position > 0 ? 1...head.position : nil
        while try rows.step() {
            let first = rows.integer(0)
            // A segment's stated range is trusted up to the largest possible segment.
            let end = min(max(first, 1), Limits.numbers.upperBound - Int64(Limits.segmentEvents))
            let last = min(max(rows.integer(1), end), end + Int64(Limits.segmentEvents) - 1)
            do {
                guard let batch = try reader.batch(containing: first), batch.header.first == first
                else { throw StorageError.corruptLog("row @\(first) can't be read") }
                walk.check(batch, &report)
                digests.check(batch, row: rows, report: &report)
                // Events whose predecessors are lost can't be judged.
                if report.notVerified.isEmpty {
                    // Findings are collected first, because `report` can't be accessed from two closures at once.
                    var found: [(Int64, String)] = []
                    var replaced: [Fold.Replacement] = []
                    var foreign: [Fold.ForeignValue] = []
                    try fold.apply(
                        batch, report: { found.append(($0, $1)) }, replaced: { replaced.append($0) },
                        foreign: { foreign.append($0) })
                    for (position, message) in found { report.add("event", position: position, message) }
                    for value in foreign {
                        report.warn(of: value, in: catalog, isSearched: searched.contains(value.entity))
                    }
                    for row in replaced {
                        if CatalogEntity.isReserved(row.entity) {
                            report.add("event", position: row.position, "inserts a row that already exists")
                        } else {
                            report.warn(of: row, in: catalog, isSearched: searched.contains(row.entity))
                        }
                    }
                }
                try walk.collectKeys(of: batch, remember: rememberKey, extend: extendKey)
            } catch let error as StorageError where !error.isOfTheMachine {
                report.add("log", position: first, error.message)
                report.notVerified.append(end...last)
                walk.skip(to: last)
                digests.skip(rows)
            }
            progress(last, head.position)
        }
        walk.finish(head, &report)
        guard report.notVerified.isEmpty else { return }
        let definitions = try StoredDefinitions(database)
        for entity in entities {
            try guarded("projection") {
                if let known = catalog.entity(id: entity.id) { $0.checkDefinition(known, in: definitions) }
                try $0.compareTable(entity, scratch)
            }
        }
        try guarded("full-text") { try $0.checkFullText(catalog, scratch) }
        try guarded("tombstone") { try $0.compareTombstones(of: entities, catalog, scratch) }
        try guarded("commit-key") { try $0.compareKeys(scratch) }
    }

    /// The end of the log; position 0 if its last segment is invalid, which is reported.
    private mutating func readHead(_ reader: LogReader) throws -> LogHead {
        do {
            return try reader.head()
        } catch let error as StorageError where error.code == .corrupt {
            report.add("log", error.message)
            return LogHead()
        }
    }

    private mutating func compareTable(_ entity: CatalogEntity, _ scratch: ScratchTables) throws {
        database.forgetCompiledStatements()
        let rest = entity.live.filter { $0.keyOrdinal == 0 }
        let columns = entity.key + rest
        let comparison = RowComparison(keyCount: entity.key.count, names: columns.map(\.name) + ["_position"])
        let expected = try PreparedStatement(
            scratch.database,
            RowComparison.selectEntity(
                ScratchTables.table(of: entity), columns.map(ScratchTables.name), keys: entity.key.count))
        let actual = try PreparedStatement(
            database,
            RowComparison.selectEntity(quoted(entity.stored), columns.map { quoted($0.stored) }, keys: entity.key.count)
        )
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

    /// Compares the table, its indexes and triggers with their definition in the catalog.
    private mutating func checkDefinition(_ entity: CatalogEntity, in definitions: StoredDefinitions) {
        guard !entity.isReserved, definitions.definition(of: entity.stored) != entity.definition else { return }
        report.add("schema", table: entity.name, "the table, an index or a trigger differs from the log")
    }

    /// - Parameter folded: Those that the tables are compared of. The tombstones of dropped ones stay for `history`.
    private mutating func compareTombstones(
        of folded: [CatalogEntity], _ catalog: Catalog, _ scratch: ScratchTables
    ) throws {
        let comparison = RowComparison(keyCount: 2, names: ["entity", "key", "position"])
        let sql = "SELECT entity, key, position FROM %@ WHERE entity IN (%@) ORDER BY entity, key"
        let list = folded.map { String($0.id) }.joined(separator: ", ")
        let expected = try PreparedStatement(scratch.database, String(format: sql, "tombstone", list))
        let actual = try PreparedStatement(database, String(format: sql, "storage_tombstone", list))
        _ = try comparison.run(expected, actual) { difference in
            report.add("tombstone", "\(difference)")
            return !report.isTruncated
        }
        let dropped = catalog.entities.filter(\.isDropped).map { String($0.id) }.joined(separator: ", ")
        let others = try PreparedStatement(
            database,
            """
            SELECT entity, position FROM storage_tombstone WHERE entity NOT IN (\(list))
            AND NOT (entity IN (\(dropped)) AND typeof(position) = 'integer' AND position BETWEEN 1 AND \(try LogHead.load(database).position))
            """)
        while try others.step(), !report.isTruncated {
            report.add("tombstone", "of entity \(others.integer(0)) @\(others.integer(1)) isn't in the log")
        }
    }

    private mutating func compareKeys(_ scratch: ScratchTables) throws {
        let comparison = RowComparison(keyCount: 1, names: ["key", "number", "first", "last", "time"])
        let sql = "SELECT key, number, first, last, time FROM %@ WHERE number > 0 ORDER BY key"
        let expected = try PreparedStatement(scratch.database, String(format: sql, "commit_key"))
        let actual = try PreparedStatement(database, String(format: sql, "storage_commit_key"))
        _ = try comparison.run(expected, actual) { difference in
            report.add("commit-key", "\(difference)")
            return !report.isTruncated
        }
    }
}
