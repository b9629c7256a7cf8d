import GRDB

/// GRDB doing the work without history.
enum GRDBContenders {
    static func saveMany(_ people: [Person]) -> [Contender] {
        let handwritten = people.map(HandwrittenPerson.init)
        return [
            contender(ContenderName.codableUpsert) { pool in
                try await pool.write { db in
                    for person in people { try person.upsert(db) }
                }
            },
            contender(ContenderName.handwrittenUpsert) { pool in
                try await pool.write { db in
                    for person in handwritten { try person.upsert(db) }
                }
            },
            contender(ContenderName.cachedStatement) { pool in
                try await GRDBStore.upsertWithCachedStatement(people, into: pool)
            },
        ]
    }

    static func saveConcurrently(_ people: [Person]) -> [Contender] {
        [
            contender(ContenderName.poolWrite) { pool in
                try await withThrowingTaskGroup { group in
                    for person in people {
                        group.addTask { try await pool.write { try person.upsert($0) } }
                    }
                    try await group.waitForAll()
                }
            }
        ]
    }

    static func saveOneByOne(_ people: [Person]) -> [Contender] {
        [
            contender(ContenderName.poolWrite) { pool in
                for person in people {
                    try await pool.write { try person.upsert($0) }
                }
            }
        ]
    }

    static func readAll(_ people: [Person]) -> [Contender] {
        [
            reader(ContenderName.codableFetch, people) { pool in
                try await pool.read { try Person.order(Column("id")).fetchAll($0) }.count
            },
            reader(ContenderName.handwrittenFetch, people) { pool in
                try await pool.read { try HandwrittenPerson.order(Column("id")).fetchAll($0) }.count
            },
        ]
    }

    static func contender(
        _ name: String, run: @escaping (DatabasePool) async throws -> Void
    ) -> Contender {
        Contender(
            name,
            prepare: { try GRDBStore.create($0.path("grdb.sqlite")) },
            run: { pool in
                try await run(pool)
                return []
            },
            cleanup: { try $0.close() })
    }

    static func reader(
        _ name: String, _ people: [Person], count: @escaping (DatabasePool) async throws -> Int
    ) -> Contender {
        Contender(
            name,
            prepare: { workspace in
                let pool = try GRDBStore.create(workspace.path("grdb.sqlite"))
                try await GRDBStore.upsertWithCachedStatement(people, into: pool)
                return pool
            },
            run: { pool in
                guard try await count(pool) == people.count else {
                    throw BenchmarkError("GRDB read another number of rows than it was given.")
                }
                return []
            },
            cleanup: { try $0.close() })
    }
}
