internal import Foundation
internal import GRDB
internal import StorageCore

/// The table `hub_producers` of a hub's store: what it keeps of each producer, changed in the transactions of its writes.
enum HubProducers {
    static func create(in db: Database) throws {
        try db.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS hub_producers (
                  producer TEXT PRIMARY KEY, state TEXT NOT NULL
                ) WITHOUT ROWID
                """)
    }

    static func load(_ producer: ProducerID, in db: Database) throws -> HubProducer? {
        let statement = try db.cachedStatement(sql: "SELECT state FROM hub_producers WHERE producer = ?")
        return try String.fetchOne(statement, arguments: [producer.value]).map {
            try JSONDecoder().decode(HubProducer.self, from: Data($0.utf8))
        }
    }

    static func save(_ state: HubProducer, of producer: ProducerID, in db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO hub_producers VALUES (?, ?)")
            .execute(arguments: [producer.value, String(decoding: try JSONEncoder().encode(state), as: UTF8.self)])
    }
}
