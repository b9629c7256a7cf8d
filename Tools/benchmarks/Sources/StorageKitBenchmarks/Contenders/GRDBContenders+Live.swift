import GRDB

/// Observations of a database, by GRDB.
extension GRDBContenders {
    static func livePage(_ people: [Person], commits: Int) -> [Contender] {
        [
            follower(ContenderName.unobserved, people) { pool in
                for commit in 0..<commits { try await change(people[commit % 50], commit, pool) }
            },
            follower(ContenderName.observation, people) { pool in
                let observation = ValueObservation.tracking { db in
                    try Person.order(Column("id")).limit(50).fetchAll(db)
                }
                var pages = observation.values(in: pool).makeAsyncIterator()
                _ = try await pages.next()
                for commit in 0..<commits {
                    let person = people[commit % 50]
                    try await change(person, commit, pool)
                    while let page = try await pages.next() {
                        if page.contains(where: { $0.id == person.id && $0.age == Int64(1_000 + commit) }) { break }
                    }
                }
            },
        ]
    }

    static func liveMany(_ people: [Person], views: Int, commits: Int) -> [Contender] {
        [
            follower(ContenderName.unobserved, people) { pool in
                for commit in 0..<commits { try await change(people[commit % views], commit, pool) }
            },
            follower(ContenderName.observation, people) { pool in
                var rows: [AsyncValueObservation<Person?>.Iterator] = []
                for view in 0..<views {
                    let id = people[view].id
                    let observation = ValueObservation.tracking { try Person.fetchOne($0, key: id) }
                    var iterator = observation.values(in: pool).makeAsyncIterator()
                    _ = try await iterator.next()
                    rows.append(iterator)
                }
                for commit in 0..<commits {
                    try await change(people[commit % views], commit, pool)
                    while let row = try await rows[commit % views].next() {
                        if row?.age == Int64(1_000 + commit) { break }
                    }
                }
            },
        ]
    }

    private static func change(_ person: Person, _ commit: Int, _ pool: DatabasePool) async throws {
        var person = person
        person.age = Int64(1_000 + commit)
        try await GRDBStore.upsertWithCachedStatement([person], into: pool)
    }

    private static func follower(
        _ name: String, _ people: [Person], run: @escaping @Sendable (DatabasePool) async throws -> Void
    ) -> Contender {
        Contender(
            name,
            prepare: { workspace in
                let pool = try GRDBStore.create(workspace.path("grdb.sqlite"))
                try await GRDBStore.upsertWithCachedStatement(people, into: pool)
                return pool
            },
            run: { pool in
                try await run(pool)
                return []
            },
            cleanup: { try $0.close() })
    }
}
