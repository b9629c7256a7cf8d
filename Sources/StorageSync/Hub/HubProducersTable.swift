internal import Foundation
internal import GRDB
internal import StorageCore

/// The table `hub_producers` of a hub's store: what it keeps about each producer, changed in the transactions of its
/// writes.
enum HubProducersTable {
    static func create(in db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS hub_producers (
                  producer TEXT PRIMARY KEY, state TEXT NOT NULL
                ) WITHOUT ROWID
                """)
    }

    /// Whether a namespace has reached its limit of producers. The hub's own program has neither namespace nor limit.
    ///
    /// - Complexity: O(*n*) in the limit.
    static func isFull(_ namespace: String, limit: Int, in db: Database) throws -> Bool {
        guard !namespace.isEmpty else { return false }
        // `0` is the character after the slash.
        let statement = try db.cachedStatement(
            sql: """
                SELECT count(*) FROM (SELECT 1 FROM hub_producers WHERE producer >= ? AND producer < ? LIMIT ?)
                """)
        let count = try Int.fetchOne(statement, arguments: ["\(namespace)/", "\(namespace)0", limit])
        return count ?? 0 >= limit
    }

    static func load(_ producer: ProducerID, in db: Database) throws -> WriteDeduplication? {
        let statement = try db.cachedStatement(sql: "SELECT state FROM hub_producers WHERE producer = ?")
        return try String.fetchOne(statement, arguments: [producer.value]).map {
            try JSONDecoder().decode(WriteDeduplication.self, from: Data($0.utf8))
        }
    }

    static func save(_ state: WriteDeduplication, of producer: ProducerID, in db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO hub_producers VALUES (?, ?)")
            .execute(arguments: [producer.value, String(decoding: try JSONEncoder().encode(state), as: UTF8.self)])
    }
}
