import GRDB

/// Single rows and small sets of rows, by GRDB.
extension GRDBContenders {
    static let selectByKeySQL = "SELECT * FROM person WHERE id = ?"
    static let querySQL = """
        SELECT * FROM person WHERE age >= ? AND city = ? AND active = 1 ORDER BY score DESC, id DESC LIMIT ?
        """

    /// Each look-up is a read of its own.
    static func lookUp(_ keys: [String], among people: [Person]) -> [Contender] {
        [
            reader(ContenderName.codableRecord, people, finding: keys.count) { pool in
                var found = 0
                for key in keys {
                    let person = try await pool.read { try Person.fetchOne($0, key: key) }
                    if person?.id == key { found += 1 }
                }
                return found
            },
            reader(ContenderName.handwrittenRecord, people, finding: keys.count) { pool in
                var found = 0
                for key in keys {
                    let person = try await pool.read { try HandwrittenPerson.fetchOne($0, key: key) }
                    if person?.person.id == key { found += 1 }
                }
                return found
            },
            reader(ContenderName.cachedStatement, people, finding: keys.count) { pool in
                var found = 0
                for key in keys {
                    let person = try await pool.read { db in
                        try HandwrittenPerson.fetchOne(db.cachedStatement(sql: selectByKeySQL), arguments: [key])
                    }
                    if person?.person.id == key { found += 1 }
                }
                return found
            },
        ]
    }

    /// All look-ups in one transaction on the writer.
    static func lookUpInOneTransaction(_ keys: [String], among people: [Person]) -> [Contender] {
        [
            reader(ContenderName.codableRecord, people, finding: keys.count) { pool in
                try await pool.write { db in
                    try keys.count { try Person.fetchOne(db, key: $0)?.id == $0 }
                }
            },
            reader(ContenderName.handwrittenRecord, people, finding: keys.count) { pool in
                try await pool.write { db in
                    try keys.count { try HandwrittenPerson.fetchOne(db, key: $0)?.person.id == $0 }
                }
            },
            reader(ContenderName.cachedStatement, people, finding: keys.count) { pool in
                try await pool.write { db in
                    let statement = try db.cachedStatement(sql: selectByKeySQL)
                    return try keys.count {
                        try HandwrittenPerson.fetchOne(statement, arguments: [$0])?.person.id == $0
                    }
                }
            },
        ]
    }

    static func query(_ queries: [PersonQuery], among people: [Person], finding rows: Int) -> [Contender] {
        [
            reader(ContenderName.codableRecord, people, finding: rows) { pool in
                var found = 0
                for query in queries {
                    found += try await pool.read { try Person.matching(query).fetchAll($0) }.count
                }
                return found
            },
            reader(ContenderName.handwrittenRecord, people, finding: rows) { pool in
                var found = 0
                for query in queries {
                    found += try await pool.read { try HandwrittenPerson.matching(query).fetchAll($0) }.count
                }
                return found
            },
            reader(ContenderName.cachedStatement, people, finding: rows) { pool in
                var found = 0
                for query in queries {
                    found += try await pool.read { db in
                        try HandwrittenPerson.fetchAll(
                            db.cachedStatement(sql: querySQL),
                            arguments: [query.minimumAge, query.city, PersonQuery.limit])
                    }.count
                }
                return found
            },
        ]
    }

    static func reader(
        _ name: String, _ people: [Person], finding rows: Int,
        run: @escaping @Sendable (DatabasePool) async throws -> Int
    ) -> Contender {
        Contender(
            name,
            prepare: { workspace in
                let pool = try GRDBStore.create(workspace.path("grdb.sqlite"))
                try await pool.write { try $0.create(index: "person_city", on: "person", columns: ["city"]) }
                try await GRDBStore.upsertWithCachedStatement(people, into: pool)
                return pool
            },
            run: { pool in
                let found = try await run(pool)
                guard found == rows else { throw BenchmarkError("\(name) found \(found) rows, not \(rows).") }
                return []
            },
            cleanup: { try $0.close() })
    }
}

extension TableRecord {
    fileprivate static func matching(_ query: PersonQuery) -> QueryInterfaceRequest<Self> {
        filter(Column("age") >= query.minimumAge && Column("city") == query.city && Column("active") == true)
            .order(Column("score").desc, Column("id").desc)
            .limit(PersonQuery.limit)
    }
}
