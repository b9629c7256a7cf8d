import GRDB
import StorageKit

/// Single rows and small sets of rows, by StorageKit.
extension StorageKitContenders {
    /// Each look-up is a read of its own.
    static func lookUp(_ keys: [String], among people: [Person]) -> [Contender] {
        [
            reader(people, finding: keys.count) { storage in
                var found = 0
                for key in keys {
                    if try await storage.get(StoredPerson.self, id: key)?.id == key { found += 1 }
                }
                return found
            }
        ]
    }

    /// All look-ups in one transaction on the writer.
    static func lookUpInOneTransaction(_ keys: [String], among people: [Person]) -> [Contender] {
        [
            reader(people, finding: keys.count) { storage in
                let counter = Counter()
                try await storage.write { tx in
                    counter.add(try keys.count { try tx.get(StoredPerson.self, id: $0)?.id == $0 })
                }
                return counter.value
            }
        ]
    }

    static func query(_ queries: [PersonQuery], among people: [Person], finding rows: Int) -> [Contender] {
        [
            reader(people, finding: rows) { storage in
                var found = 0
                for query in queries {
                    found += try await storage.query(StoredPerson.self)
                        .where { $0.age >= query.minimumAge && $0.city == query.city && $0.active == true }
                        .orderBy(\.score, .descending)
                        .limit(PersonQuery.limit)
                        .fetch().count
                }
                return found
            }
        ]
    }

    private static func reader(
        _ people: [Person], finding rows: Int, run: @escaping @Sendable (Storage) async throws -> Int
    ) -> Contender {
        Contender(
            ContenderName.storageKit,
            prepare: { workspace in
                let store = try StorageKitStore(workspace.path("storage.sqlite")) { schema in
                    schema.migration("index of cities") { db in
                        try db.create(index: "people_city", on: "people", columns: ["city"])
                    }
                }
                try await store.storage.save(people.map(StoredPerson.init))
                // Sealing in the background would be measured along.
                try await store.storage.seal()
                return store
            },
            run: { store in
                let found = try await run(store.storage)
                guard found == rows else { throw BenchmarkError("StorageKit found \(found) rows, not \(rows).") }
                return []
            },
            cleanup: { try await $0.close() })
    }
}
