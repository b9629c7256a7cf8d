internal import Foundation
internal import GRDB
internal import StorageLog

/// The table `hub_requests` of a hub's store: the outcomes of writes with a key, written in their transactions. The
/// last ones of each client are kept; rows are numbered for that purpose.
///
/// A row is valid only while the log has the commit at its position, in its line: a store that was restored to an earlier
/// point still has the rows of writes that it has lost.
enum HubRequestsTable {
    /// Columns that tables of earlier versions don't have. Rows without a number are removed first; those without a line
    /// belong to the store's first one.
    private static let later = ["number INTEGER NOT NULL DEFAULT 0", "line BLOB NOT NULL DEFAULT x''"]

    static func create(in db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS hub_requests (
                  client TEXT, key TEXT, fingerprint BLOB NOT NULL, version INTEGER, position INTEGER NOT NULL,
                  is_created INTEGER NOT NULL, \(later.joined(separator: ", ")), PRIMARY KEY (client, key)
                ) WITHOUT ROWID
                """)
        let columns = Set(try db.columns(in: "hub_requests").map(\.name))
        for column in later where !columns.contains(String(column.prefix { $0 != " " })) {
            try db.execute(sql: "ALTER TABLE hub_requests ADD COLUMN \(column)")
        }
        try db.execute(sql: "CREATE INDEX IF NOT EXISTS hub_requests_number ON hub_requests (client, number)")
    }

    /// - Parameter log: The end of the log and the store's lineage.
    /// - Returns: nil if the log doesn't have the write, or no longer.
    /// - Throws: ``HubError/keyReused`` if the key belongs to another request.
    static func outcome(
        of key: HubRequestKey, by client: String, log: (head: Int64, lineage: StoreLineage), in db: Database
    ) throws -> HubOutcome? {
        let statement = try db.cachedStatement(
            sql:
                "SELECT fingerprint, version, position, is_created, line FROM hub_requests WHERE client = ? AND key = ?"
        )
        guard let row = try Row.fetchOne(statement, arguments: [client, key.value]) else { return nil }
        let (position, line) = (row[2] as Int64, Array(row[4] as Data))
        guard position <= log.head, (line.isEmpty ? log.lineage.store : line) == log.lineage.line(of: position).id
        else { return nil }
        guard row[0] as Data == Data(key.fingerprint) else { throw HubError.keyReused }
        return HubOutcome(version: row[1], position: position, isCreated: row[3])
    }

    /// Saves an outcome, instead of one that is no longer valid.
    ///
    /// - Parameter limit: How many of the client's requests are kept, including this one.
    static func save(
        _ outcome: HubOutcome, of key: HubRequestKey, by client: String, keeping limit: Int,
        lineage: StoreLineage, in db: Database
    ) throws {
        let last = try db.cachedStatement(sql: "SELECT max(number) FROM hub_requests WHERE client = ?")
        let number = (try Int64.fetchOne(last, arguments: [client]) ?? 0) + 1
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO hub_requests VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
            .execute(arguments: [
                client, key.value, Data(key.fingerprint), outcome.version, outcome.position, outcome.isCreated, number,
                Data(lineage.line(of: outcome.position).id),
            ])
        try db.cachedStatement(sql: "DELETE FROM hub_requests WHERE client = ? AND number <= ?")
            .execute(arguments: [client, number - Int64(limit)])
    }
}
