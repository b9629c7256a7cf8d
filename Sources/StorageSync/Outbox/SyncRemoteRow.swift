internal import Foundation
internal import GRDB
internal import StorageLog

/// An engine's row of `sync_remotes`.
struct SyncRemoteRow: Sendable {
    let path: String
    /// Whether the table contains the documents of this path, so that writes to it belong to this path.
    var isActive = true
    /// Whether the documents were removed from the table, and those with unsent writes are to be restored.
    var isCleared = false
    /// For an engine of one document, its id.
    var document: String?
    /// Writes up to here were made before there was an engine: their documents are sent whole.
    var since: Int64 = 0
    /// The log position up to which writes are in the outbox.
    var scanned: Int64 = 0
    /// The line of the log that ``scanned`` belongs to.
    var line: [UInt8] = []
    /// Counts saves.
    var revision: Int64 = 0
    var record = SyncRecord()
    /// The columns of the documents in `sync_bases`.
    var schema = ""
    /// How often the engine has started over, as another producer each time.
    var generation: Int64 = 0

    init(path: String) { self.path = path }
}

extension SyncRemoteRow {
    private init(_ row: Row) throws {
        path = row["path"]
        isActive = row["is_active"]
        isCleared = row["is_cleared"]
        document = row["document"]
        since = row["since"]
        scanned = row["scanned"]
        line = Array(row["line"] as Data)
        revision = row["revision"]
        schema = row["shape"]
        generation = row["generation"]
        record = try JSONDecoder().decode(SyncRecord.self, from: Data((row["record"] as String).utf8))
    }

    /// An engine's rows; none if it was never used.
    static func all(of manager: String, in db: Database) throws -> [SyncRemoteRow] {
        guard try SyncTables.exist(in: db) else { return [] }
        return try Row.fetchAll(db, sql: "SELECT * FROM sync_remotes WHERE manager = ?", arguments: [manager])
            .map(SyncRemoteRow.init)
    }

    /// The rows whose documents are in an entity's table, each with the key of its engine.
    static func active(of entity: String, in db: Database) throws -> [(manager: String, row: SyncRemoteRow)] {
        guard try SyncTables.exist(in: db) else { return [] }
        let sql = "SELECT * FROM sync_remotes WHERE entity = ? AND is_active"
        return try Row.fetchAll(db, sql: sql, arguments: [entity]).map { ($0["manager"], try SyncRemoteRow($0)) }
    }

    /// The log position up to which the row is valid: the store was restored to an earlier point, or is a diverged
    /// copy. Nil if it is valid for the whole log.
    func sharedEnd(_ lineage: StoreLineage, head: Int64) -> Int64? {
        guard scanned > head || (!line.isEmpty && line != lineage.line(of: scanned).id) else { return nil }
        return min(head, lineage.lines.last.map { $0.fork } ?? 0)
    }

    /// The keys of all engines that have used the store, each with the entity of its documents.
    static func engines(in db: Database) throws -> [(manager: String, entity: String)] {
        guard try SyncTables.exist(in: db) else { return [] }
        let sql = "SELECT manager, min(entity) FROM sync_remotes GROUP BY manager ORDER BY manager"
        return try Row.fetchAll(db, sql: sql).map { ($0[0], $0[1]) }
    }

    /// The key of another engine that keeps its documents in the same table.
    static func otherManager(of entity: String, than manager: String, in db: Database) throws -> String? {
        try String.fetchOne(
            db, sql: "SELECT manager FROM sync_remotes WHERE entity = ? AND manager <> ?", arguments: [entity, manager])
    }

    func save(manager: String, entity: String, in db: Database) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO sync_remotes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
        )
        .execute(arguments: [
            manager, path, entity, isActive, isCleared, document, since, scanned, Data(line), revision,
            String(decoding: try encoder.encode(record), as: UTF8.self), schema, generation,
        ])
    }
}
