internal import Foundation
internal import GRDB

/// The table `hub_requests` of a hub's store: the outcomes of writes with a key, written in their transactions. The
/// last ones of each client are kept; rows are numbered for that purpose.
enum HubRequestsTable {
    static func create(in db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS hub_requests (
                  client TEXT, key TEXT, fingerprint BLOB NOT NULL, version INTEGER, position INTEGER NOT NULL,
                  is_created INTEGER NOT NULL, number INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (client, key)
                ) WITHOUT ROWID
                """)
        // Tables of hubs that kept all rows have no numbers: those rows are removed first.
        let numbers = "SELECT count(*) FROM pragma_table_info('hub_requests') WHERE name = 'number'"
        if try Int.fetchOne(db, sql: numbers) == 0 {
            try db.execute(sql: "ALTER TABLE hub_requests ADD COLUMN number INTEGER NOT NULL DEFAULT 0")
        }
        try db.execute(sql: "CREATE INDEX IF NOT EXISTS hub_requests_number ON hub_requests (client, number)")
    }

    /// - Throws: ``HubError/keyReused`` if the key belongs to another request.
    static func outcome(of key: HubRequestKey, by client: String, in db: Database) throws -> HubOutcome? {
        let statement = try db.cachedStatement(
            sql: "SELECT fingerprint, version, position, is_created FROM hub_requests WHERE client = ? AND key = ?")
        guard let row = try Row.fetchOne(statement, arguments: [client, key.value]) else { return nil }
        guard row[0] as Data == Data(key.fingerprint) else { throw HubError.keyReused }
        return HubOutcome(version: row[1], position: row[2], isCreated: row[3])
    }

    /// - Parameter limit: How many of the client's requests are kept, including this one.
    static func save(
        _ outcome: HubOutcome, of key: HubRequestKey, by client: String, keeping limit: Int, in db: Database
    ) throws {
        let last = try db.cachedStatement(sql: "SELECT max(number) FROM hub_requests WHERE client = ?")
        let number = (try Int64.fetchOne(last, arguments: [client]) ?? 0) + 1
        try db.cachedStatement(sql: "INSERT INTO hub_requests VALUES (?, ?, ?, ?, ?, ?, ?)")
            .execute(arguments: [
                client, key.value, Data(key.fingerprint), outcome.version, outcome.position, outcome.isCreated, number,
            ])
        try db.cachedStatement(sql: "DELETE FROM hub_requests WHERE client = ? AND number <= ?")
            .execute(arguments: [client, number - Int64(limit)])
    }
}
