import GRDB

/// A GRDB pool as the benchmarks use it.
enum GRDBStore {
    static let upsertSQL = """
        INSERT INTO person (id, name, email, age, city, active, score, updatedAt) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
        ON CONFLICT(id) DO UPDATE SET name = excluded.name, email = excluded.email, age = excluded.age,
        city = excluded.city, active = excluded.active, score = excluded.score, updatedAt = excluded.updatedAt
        """

    /// Opens a pool with the settings that StorageKit gives its own connections.
    ///
    /// - Parameter isDurable: With `synchronous` FULL; otherwise NORMAL, which is a pool's own level.
    static func open(_ path: String, isDurable: Bool = true) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.prepareDatabase { db in
            try db.execute(
                sql: "PRAGMA secure_delete = OFF; PRAGMA cache_size = -24000; PRAGMA wal_autocheckpoint = 4000")
        }
        let pool = try DatabasePool(path: path, configuration: configuration)
        guard isDurable else { return pool }
        // The pool sets NORMAL on its writer itself, after the configuration's own preparation has run.
        try pool.writeWithoutTransaction { try $0.execute(sql: "PRAGMA synchronous = FULL") }
        let level = try pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
        guard level == 2 else { throw BenchmarkError("The pool's synchronous level is not FULL.") }
        return pool
    }

    /// Opens a pool with an empty person table.
    static func create(_ path: String) throws -> DatabasePool {
        let pool = try open(path)
        try pool.write { db in
            try db.create(table: "person") { table in
                table.primaryKey("id", .text)
                table.column("name", .text).notNull()
                table.column("email", .text).notNull()
                table.column("age", .integer).notNull()
                table.column("city", .text).notNull()
                table.column("active", .boolean).notNull()
                table.column("score", .double).notNull()
                table.column("updatedAt", .integer).notNull()
            }
        }
        return pool
    }

    /// Writes rows in one transaction the fastest way GRDB has.
    static func upsertWithCachedStatement(_ people: [Person], into pool: DatabasePool) async throws {
        try await pool.write { try upsertWithCachedStatement(people, $0) }
    }

    static func upsertWithCachedStatement(_ people: [Person], _ db: Database) throws {
        let statement = try db.cachedStatement(sql: upsertSQL)
        for person in people {
            try statement.execute(arguments: [
                person.id, person.name, person.email, person.age, person.city, person.active, person.score,
                person.updatedAt,
            ])
        }
    }
}
