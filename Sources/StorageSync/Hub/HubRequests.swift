internal import Foundation
internal import GRDB

/// The table `hub_requests` of a hub's store: the outcomes of writes that have a key, written in their transactions.
enum HubRequests {
    static func create(in db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS hub_requests (
                  client TEXT, key TEXT, fingerprint BLOB NOT NULL, version INTEGER, position INTEGER NOT NULL,
                  is_created INTEGER NOT NULL, PRIMARY KEY (client, key)
                ) WITHOUT ROWID
                """)
    }

    /// - Throws: ``HubError/keyReused`` where it was another request's.
    static func outcome(of key: HubRequestKey, by client: String, in db: Database) throws -> HubOutcome? {
        let statement = try db.cachedStatement(
            sql: "SELECT fingerprint, version, position, is_created FROM hub_requests WHERE client = ? AND key = ?")
        guard let row = try Row.fetchOne(statement, arguments: [client, key.value]) else { return nil }
        guard row[0] as Data == Data(key.fingerprint) else { throw HubError.keyReused }
        return HubOutcome(version: row[1], position: row[2], isCreated: row[3])
    }

    static func save(_ outcome: HubOutcome, of key: HubRequestKey, by client: String, in db: Database) throws {
        try db.cachedStatement(sql: "INSERT INTO hub_requests VALUES (?, ?, ?, ?, ?, ?)")
            .execute(arguments: [
                client, key.value, Data(key.fingerprint), outcome.version, outcome.position, outcome.isCreated,
            ])
    }
}
