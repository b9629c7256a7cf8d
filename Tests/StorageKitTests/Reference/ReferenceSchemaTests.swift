import StorageEntities
import StorageKit
import StorageMaintenance
import StorageTesting
import Synchronization
import TestSupport
import Testing

/// The reference's chapter on migrations: declared tables, indexes, caches and steps of one's own, over the life of a store.
@Suite struct ReferenceSchemaTests: SchemaVersionSuite {
    @StorageEntity
    struct Member {
        var id: String
        var email: String
    }

    /// The same table one version later.
    enum Later {
        @StorageEntity(table: "members")
        struct Member {
            var id: String
            var email: String
            var phone: String
            var points: Int
            var ratio: Double
            var isPaid: Bool
            var joinedAt: Date
            var leftAt: Date?
        }
    }

    enum Wrong {
        @StorageEntity(table: "members")
        struct Member {
            var id: String
            var email: String
            var token: UUID
        }
    }

    @StorageEntity
    struct Loan {
        var id: String
        var item: String
        var memberId: String
        var takenAt: Date
    }

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func members(_ emails: String...) -> [Member] {
        emails.enumerated().map { Member(id: "m\($0)", email: $1) }
    }

    // MARK: autoSchema

    @Test("Tables are created once and columns are added")
    func creatingTablesAndColumns() async throws {
        let first = try open { $0.autoSchema(MemberRecord.self, LoanRecord.self) }
        try await first.save(members("a@x"))
        try await first.close()
        #expect(try StorageKit.plan(at: url) { $0.autoSchema(MemberRecord.self, LoanRecord.self) }.isEmpty)

        let second = try open { $0.autoSchema(Later.MemberRecord.self) }
        let member = try #require(try await second.get(Later.Member.self, id: "m0"))
        #expect(member.email == "a@x")
        #expect(member.phone == "")
        #expect(member.points == 0)
        #expect(member.ratio == 0)
        #expect(member.isPaid == false)
        #expect(member.leftAt == nil)
        // Rows from before get the first moment of the reference date, and not the time at which the program was updated.
        #expect(member.joinedAt == Date(timeIntervalSinceReferenceDate: 0))
        // A table that is no longer declared stays.
        #expect(try await second.read { try $0.tableExists("loans") })
        try await second.close()
    }

    @Test("A required column without a default is refused")
    func requiredColumnWithoutDefault() async throws {
        let first = try open { $0.autoSchema(MemberRecord.self) }
        try await first.save(members("a@x"))
        try await first.close()
        let error = #expect(throws: StorageError.self) { try open { $0.autoSchema(Wrong.MemberRecord.self) } }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("token") ?? false)
        let again = try open { $0.autoSchema(MemberRecord.self) }
        #expect(try await again.count(Member.self) == 1)
        try await again.close()
    }

    @Test("Nothing is dropped by declaring less")
    func declaringLess() async throws {
        let first = try open { $0.autoSchema(Later.MemberRecord.self) }
        let now = Date(timeIntervalSinceReferenceDate: 5)
        try await first.save(
            Later.Member(
                id: "m0", email: "a@x", phone: "1", points: 1, ratio: 1, isPaid: true, joinedAt: now, leftAt: nil))
        try await first.close()
        let error = #expect(throws: StorageError.self) { try open { $0.autoSchema(MemberRecord.self) } }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.remedy.contains("dropColumn") ?? false)
        let again = try open { $0.autoSchema(Later.MemberRecord.self) }
        #expect(try await again.get(Later.Member.self, id: "m0")?.phone == "1")
        try await again.close()
    }

    @Test("A table that a migration made isn't an entity, and the error says so")
    func tableOfAMigration() throws {
        let error = #expect(throws: StorageError.self) {
            try open { schema in
                schema.migration("2026-01-15_members") { db in
                    try db.execute(sql: "CREATE TABLE members (id TEXT PRIMARY KEY, email TEXT, updatedAt DATETIME)")
                }
                schema.autoSchema(MemberRecord.self)
            }
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("members") ?? false)
        #expect(error?.remedy.contains("autoSchema") ?? false)
    }

    // MARK: addKVCache

    @Test("A cache has its table under any name")
    func cacheTables() async throws {
        let storage = try open { schema in
            schema.addKVCache()
            schema.addKVCache(tableName: "club_cache")
        }
        for table in ["kv_cache", "club_cache"] {
            let (columns, indexes) = try await storage.read { db in
                (try db.columns(in: table), try db.indexes(on: table).map(\.name))
            }
            #expect(columns.map(\.name) == ["key", "blob", "updatedAt", "expiresAt", "size"])
            #expect(columns.map(\.type) == ["TEXT", "BLOB", "DATETIME", "DATETIME", "INTEGER"])
            #expect(indexes.contains("idx_\(table)_expiresAt"))
            #expect(indexes.contains("idx_\(table)_updatedAt"))
        }
        try await storage.close()
        try await open { $0.addKVCache() }.close()
    }

    // MARK: migration

    @Test("Each migration runs once, in order")
    func migrationsRunOnce() async throws {
        let runs = Mutex<[String]>([])
        func declare(_ schema: inout Schema) {
            schema.autoSchema(MemberRecord.self)
            schema.migration("2026-01-15_email_index") { db in
                runs.withLock { $0.append("index") }
                try db.create(index: "idx_members_email", on: "members", columns: ["email"])
            }
            schema.migration("2026-01-20_lower_case") { db in
                runs.withLock { $0.append("lower") }
                try db.execute(sql: "UPDATE members SET email = lower(trim(email))")
            }
        }
        let first = try open { $0.autoSchema(MemberRecord.self) }
        try await first.save(members(" A@X", "b@x"))
        try await first.close()
        for _ in 0..<2 { try await open(declare).close() }
        #expect(runs.withLock { $0 } == ["index", "lower"])
        let storage = try open(declare)
        #expect(try await storage.all(Member.self).map(\.email) == ["a@x", "b@x"])
        // The log has what a migration changes, with its name.
        let change = try await storage.history(Member.self, id: "m0").last
        #expect(change?.operation == .update)
        #expect(change?.commit.metadata.reason == "migration 2026-01-20_lower_case")
        #expect(try await storage.history(Member.self, id: "m1").count == 1)
        let plan = try await storage.query(Member.self).where { $0.email == "a@x" }.explain().plan
        #expect(plan.contains { $0.contains("idx_members_email") })
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    @Test("A column that a migration adds is part of the history")
    func columnAddedByMigration() async throws {
        let storage = try open { schema in
            schema.autoSchema(MemberRecord.self)
            schema.migration("2026-01-25_status") { db in
                try db.execute(sql: "ALTER TABLE members ADD COLUMN status TEXT NOT NULL DEFAULT 'active'")
            }
        }
        try await storage.save(members("a@x"))
        try await storage.write { try $0.execute("UPDATE members SET status = 'asleep'") }
        let change = try #require(try await storage.history(Member.self, id: "m0").last)
        #expect(change.old?.map(\.value) == ["active"])
        #expect(change.new?.map(\.value) == ["asleep"])
        // The entity doesn't know the column, and saving leaves it as it is.
        try await storage.save(members("b@x"))
        let status = try await storage.read { try String.fetchOne($0, sql: "SELECT status FROM members") }
        #expect(status == "asleep")
        try await storage.close()
    }

    @Test("A migration is skipped where its table exists")
    func skippedMigration() async throws {
        let runs = Mutex(0)
        for name in ["2026-01-15_settings", "2026-02-01_settings_again"] {
            let storage = try open { schema in
                schema.retire("2026-01-15_settings")
                schema.migration(name, skipIfTableExists: "settings") { db in
                    runs.withLock { $0 += 1 }
                    try db.create(table: "settings") { table in
                        table.column("key", .text).primaryKey()
                        table.column("value", .text).notNull()
                    }
                }
            }
            try await storage.write { try $0.execute("INSERT OR IGNORE INTO settings VALUES ('theme', 'dark')") }
            let values = try await storage.read { try String.fetchAll($0, sql: "SELECT value FROM settings") }
            #expect(values == ["dark"])
            try await storage.close()
        }
        #expect(runs.withLock { $0 } == 1)
    }

    @Test("A table is recreated with a foreign key")
    func addingForeignKey() async throws {
        func declare(_ schema: inout Schema) { schema.autoSchema(MemberRecord.self, LoanRecord.self) }
        let first = try open(declare)
        try await first.save(members("a@x", "b@x"))
        let taken = Date(timeIntervalSinceReferenceDate: 1)
        try await first.save((0..<4).map { Loan(id: "l\($0)", item: "saw", memberId: "m\($0 % 2)", takenAt: taken) })
        try await first.close()
        let storage = try open { schema in
            declare(&schema)
            schema.migration("2026-01-15_loan_key") { db in
                try db.execute(
                    sql: """
                        CREATE TABLE loans_new (
                          id TEXT PRIMARY KEY NOT NULL, item TEXT NOT NULL, memberId TEXT NOT NULL, takenAt DATETIME NOT NULL,
                          updatedAt DATETIME NOT NULL, FOREIGN KEY (memberId) REFERENCES members(id) ON DELETE CASCADE);
                        INSERT INTO loans_new SELECT id, item, memberId, takenAt, updatedAt FROM loans;
                        DROP TABLE loans;
                        ALTER TABLE loans_new RENAME TO loans;
                        """)
            }
            schema.migration("2026-01-20_loan_index") { db in
                try db.create(index: "idx_loans_member_taken", on: "loans", columns: ["memberId", "takenAt"])
            }
        }
        try await storage.delete(Member.self, id: "m0")
        #expect(try await storage.all(Loan.self).map(\.id) == ["l1", "l3"])
        #expect(try await storage.history(Loan.self, id: "l0").map(\.operation) == [.insert, .delete])
        let plan = try await storage.query(Loan.self).where { $0.memberId == "m1" }.orderBy("takenAt", .descending)
            .explain().plan
        #expect(plan.contains { $0.contains("idx_loans_member_taken") }, "\(plan)")
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }

    /// `SELECT *` of an entity's table has the position of each row's last event in it; the error says that it doesn't fit,
    /// and nothing is lost.
    @Test("Copying a table with an asterisk is refused and undone")
    func copyingWithAsterisk() async throws {
        let first = try open { $0.autoSchema(MemberRecord.self) }
        try await first.save(members("a@x"))
        try await first.close()
        let error = #expect(throws: StorageError.self) {
            try open { schema in
                schema.autoSchema(MemberRecord.self)
                schema.migration("copy") { db in
                    try db.execute(
                        sql: """
                            CREATE TABLE members_new (id TEXT PRIMARY KEY, email TEXT NOT NULL, updatedAt DATETIME NOT NULL);
                            INSERT INTO members_new SELECT * FROM members;
                            """)
                }
            }
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.message.contains("3 columns but 4 values") ?? false)
        let again = try open { $0.autoSchema(MemberRecord.self) }
        #expect(try await again.count(Member.self) == 1)
        #expect(try await again.read { try !$0.tableExists("members_new") })
        try await again.close()
    }

    @Test("A unique index refuses the second row")
    func uniqueIndex() async throws {
        let storage = try open { schema in
            schema.autoSchema(MemberRecord.self)
            schema.migration("2026-01-25_unique_email") { db in
                try db.create(index: "idx_members_email_unique", on: "members", columns: ["email"], unique: true)
            }
        }
        try await storage.save(members("a@x"))
        let error = await #expect(throws: StorageError.self) {
            try await storage.save(Member(id: "other", email: "a@x"))
        }
        #expect(error?.message.contains("UNIQUE") ?? false)
        #expect(try await storage.count(Member.self) == 1)
        try await storage.close()
    }

    // MARK: setOptions

    @Test("The logger gets what was done, and no content")
    func loggerOfSchema() async throws {
        let lines = Mutex<[String]>([])
        func declare(_ schema: inout Schema) {
            schema.setOptions(
                Options(
                    eraseDatabaseOnSchemaChange: false,
                    logger: { line in
                        lines.withLock { $0.append(line) }
                    }))
            schema.addKVCache()
            schema.autoSchema(MemberRecord.self)
            schema.migration("2026-01-15_email_index") { db in
                try db.create(index: "idx_members_email", on: "members", columns: ["email"])
            }
        }
        try await open(declare).close()
        let reported = lines.withLock { $0 }
        #expect(reported.contains { $0.contains("create table \"members\"") }, "\(reported)")
        #expect(reported.contains("cache kv_cache: create table \"kv_cache\""), "\(reported)")
        #expect(reported.contains { $0.hasPrefix("migration 2026-01-15_email_index") })
        lines.withLock { $0 = [] }
        try await open(declare).close()
        #expect(lines.withLock { $0 } == [])
        let options = Options()
        #expect(options.eraseDatabaseOnSchemaChange == false)
        #expect(options.logger == nil)
    }

    @Test("On request a store that doesn't fit is started over")
    func startingOverOnRequest() async throws {
        let first = try open { $0.autoSchema(Later.MemberRecord.self) }
        try await first.write { try $0.execute("INSERT INTO members VALUES ('m', 'e', '', 0, 0, 0, 0, NULL, 0, 0)") }
        try await first.close()
        #expect(throws: StorageError.self) { try open { $0.autoSchema(MemberRecord.self) } }
        let second = try open { schema in
            schema.setOptions(Options(eraseDatabaseOnSchemaChange: true))
            schema.autoSchema(MemberRecord.self)
        }
        #expect(try await second.count(Member.self) == 0)
        #expect(try await second.allEvents().isEmpty)
        try await second.close()
    }

    // MARK: All together

    /// A copy that is made between two calls has the steps that were declared until then.
    @Test("Every call declares one step")
    func callsDeclareOneStep() async throws {
        var schema = AppMigrations()
        var copies: [Schema] = []
        schema.setOptions(Options())
        copies.append(schema)
        schema.addKVCache(tableName: "club_cache")
        copies.append(schema)
        schema.autoSchema(MemberRecord.self, LoanRecord.self)
        copies.append(schema)
        schema.addFullTextSearch(table: "loans", columns: ["item"], tokenizer: "unicode61")
        copies.append(schema)
        schema.migration("2026-01-15_nothing") { _ in }
        copies.append(schema)
        let counts = try copies.map { copy in
            try copy.run(on: try StorageKit.inMemory().storage.pool).steps.count
        }
        #expect(counts == [0, 1, 2, 3, 4])
    }

    @Test("A store lists the migrations that it has applied")
    func appliedMigrations() async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("club.sqlite"))
        let clock = ManualClock()
        let config = StorageConfig(clock: clock)
        func open(_ ids: [String]) throws -> Storage {
            try StorageKit.start(at: url, config: config) { schema in
                schema.autoSchema(MemberRecord.self)
                for id in ids { schema.migration(id) { try $0.execute(sql: "CREATE TABLE \"\(id)\"(a)") } }
            }.facade
        }
        let first = try open(["2026-01-15_b", "2026-01-16_a"])
        #expect(try await first.appliedMigrations().map(\.id) == ["2026-01-15_b", "2026-01-16_a"])
        try await first.close()
        clock.advance(by: .seconds(60))
        let second = try open(["2026-01-15_b", "2026-01-16_a", "2026-01-17_c"])
        let applied = try await second.appliedMigrations()
        #expect(applied.map(\.id) == ["2026-01-15_b", "2026-01-16_a", "2026-01-17_c"])
        #expect(applied[2].date == clock.now)
        #expect(applied[1].date == clock.now - 60)
        #expect(applied.allSatisfy { $0.position <= second.head })
        try await second.close()
        let none = try StorageKit.inMemory { $0.autoSchema(MemberRecord.self) }.facade
        #expect(try await none.appliedMigrations() == [])
    }

    /// `SELECT *` of an entity's table has a column more than the program has declared.
    @Test("Copying every column says to name them")
    func copyAllColumns() async throws {
        let error = #expect(throws: StorageError.self) {
            _ = try StorageKit.inMemory { schema in
                schema.autoSchema(MemberRecord.self)
                schema.migration("2026-01-15_copy") { db in
                    let columns = MemberRecord.schemaColumns.map(\.name).joined(separator: ", ")
                    try db.execute(sql: "CREATE TABLE copies(\(columns))")
                    try db.execute(sql: "INSERT INTO copies SELECT * FROM members")
                }
            }
        }
        #expect(error?.code == .migrationFailed)
        #expect(error?.remedy.contains("_position") == true)
        #expect(error?.remedy.contains("name the columns") == true)
    }

    @Test("A program declares all of its store")
    func completeDeclaration() async throws {
        func declare(_ schema: inout Schema) {
            schema.setOptions(Options(logger: { _ in }))
            schema.addKVCache()
            schema.autoSchema(MemberRecord.self, LoanRecord.self)
            schema.addFullTextSearch(table: "loans", columns: ["item"])
            schema.migration("2026-01-15_indexes") { db in
                try db.create(index: "idx_loans_member", on: "loans", columns: ["memberId"])
                try db.create(index: "idx_members_mail", on: "members", columns: ["email"], unique: true)
            }
            schema.migration("2026-01-20_normalize") { db in
                try db.execute(sql: "UPDATE members SET email = LOWER(TRIM(email))")
            }
        }
        var storage = try open(declare)
        try await storage.save(members("a@x"))
        try await storage.save(Loan(id: "l", item: "long ladder", memberId: "m0", takenAt: .distantPast))
        try await storage.close()
        storage = try open(declare)
        #expect(try await storage.search(Loan.self, query: "ladders").map(\.entity.id) == ["l"])
        try await storage.rebuild()
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }
}
