import CSQLite
import GRDB
import SchemaTestSupport
import StorageCore
import StorageMaintenance
import Synchronization
import TestSupport
import Testing

@testable import StorageLog

/// After a change of the schema only what has changed is read again, and the result is that of reading everything.
@Suite struct SchemaReadingTests {
    /// All that a reading has found, as texts that compare byte for byte.
    private static func description(_ schema: IntrospectedSchema) -> [ExactText] {
        let tables = schema.tables.map { "\($0.key.text): \($0.value)" }
        let objects = schema.ownObjects.map { "\($0.key): \($0.value)" }
        return (["version \(schema.version)"] + tables.sorted() + objects.sorted()).map(ExactText.init)
    }

    // MARK: Reading

    @Test("What is read after a change equals what is read at first", arguments: TestSettings.seeds(8, from: 1))
    func readingEqualsFirst(seed: UInt64) throws {
        let folder = try TemporaryFolder.inMemory()
        var generator = HostileDefinitions(seed: seed)
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        let database = try Connection(opening: folder.path(), flags: flags, orFailWith: "no file")
        defer { database.close() }
        if generator.random.chance(30) { try database.execute("PRAGMA encoding = 'UTF-16'") }
        if generator.random.chance(30) { try database.execute("PRAGMA auto_vacuum = FULL") }
        try database.execute("CREATE TABLE storage_x(id INTEGER PRIMARY KEY, v UNIQUE)")
        let other = try Connection(opening: folder.path(), flags: flags, orFailWith: "no file")
        defer { other.close() }
        var known: IntrospectedSchema?
        for round in 0..<TestSettings.scaled(150) {
            let isIdle = sqlite3_get_autocommit(database.handle) != 0
            let isOther = isIdle && generator.random.chance(20)
            let statement = isOther ? generator.statement() : Self.statement(&generator, isIdle: isIdle)
            let connection = isOther ? other : database
            try? connection.allowingAttachment { try connection.execute(statement) }
            // Not after each statement, as where several run before the engine looks.
            guard generator.random.chance(80) else { continue }
            let found = try IntrospectedSchema(database, knowing: known)
            let first = try IntrospectedSchema(database)
            #expect(
                Self.description(found) == Self.description(first), "seed \(seed), round \(round): \(statement)")
            known = found
        }
    }

    /// A change, or what else can give the schema other rows.
    private static func statement(_ generator: inout HostileDefinitions, isIdle: Bool) -> String {
        switch generator.random.below(20) {
        case 0: return generator.random.pick(["BEGIN", "COMMIT", "ROLLBACK"])
        case 1: return generator.random.pick(["SAVEPOINT s", "ROLLBACK TO s", "RELEASE s"])
        case 2: return generator.random.pick(["VACUUM", "COMMIT; VACUUM"])
        case 3 where isIdle:
            return """
                PRAGMA writable_schema = ON;
                UPDATE sqlite_schema SET sql = replace(sql, 'TEXT', 'BLOB') WHERE type = 'table';
                PRAGMA writable_schema = RESET
                """
        case 4:
            return generator.random.pick([
                "CREATE INDEX storage_i ON storage_x(id)", "DROP INDEX storage_i", "DROP TABLE storage_x",
                "CREATE TABLE storage_x(id INTEGER PRIMARY KEY, v UNIQUE)",
                "CREATE TRIGGER g AFTER DELETE ON storage_x BEGIN SELECT 1; END",
            ])
        default: return generator.statement()
        }
    }

    // MARK: Commits

    /// What differs between the writer's knowledge, which has grown with each change, and the schema read at first.
    private static func differences(_ writer: LogWriter) throws -> [String] {
        let found = try IntrospectedSchema(writer.database)
        var differences: [String] = []
        if try description(writer.readSchema()) != description(found) {
            differences.append("the schema that was read is another")
        }
        for entity in writer.catalog.live where !writer.schema.replaced.contains(entity.id) {
            guard let table = found.tables[entity.stored.folded] else {
                differences.append("\(entity.name) has no table")
                continue
            }
            let columns = table.columns.filter { $0.name != "_position" }
            func isSame(_ one: [CatalogColumn], _ other: [IntrospectedColumn]) -> Bool {
                one.map { ExactText("\($0.stored) \($0.affinity) \($0.collation) \($0.keyOrdinal)") }
                    == other.map { ExactText("\($0.name) \($0.affinity) \($0.collation) \($0.keyOrdinal)") }
            }
            let live = entity.live.sorted {
                (writer.schema.ordinals[$0.id] ?? -1) < (writer.schema.ordinals[$1.id] ?? -1)
            }
            if !isSame(live, columns) { differences.append("\(entity.name) has other columns: \(live), \(columns)") }
            if !entity.definition.isExactly(table.definition) { differences.append("\(entity.name) has other SQL") }
            if ExactText(entity.stored) != ExactText(table.name) {
                differences.append("\(entity.name) has another name")
            }
            if entity.isStrict != table.isStrict { differences.append("\(entity.name) isn't as strict") }
            if writer.schema.roots[entity.id] != table.root { differences.append("\(entity.name) has another root") }
            if writer.schema.triggered.contains(entity.id) != table.hasTriggers {
                differences.append("\(entity.name) has other triggers")
            }
        }
        return differences
    }

    @Test("The catalog after each change is that of the schema", arguments: TestSettings.seeds(3, from: 1))
    func catalogEqualsSchema(seed: UInt64) async throws {
        var generator = HostileDefinitions(seed: seed)
        let engine = try TestStore.inMemory()
        for name in ["a", "b", "\u{E9}", "e\u{301}", "d d"] {
            try await engine.adopt(name, generator.entityTable(quoted(name)))
        }
        var written = 0
        for round in 0..<TestSettings.scaled(30) {
            let statements = generator.statements(upTo: 3)
            let looks = statements.map { _ in generator.random.chance(70) }
            // A commit that the engine refuses leaves everything as it was.
            let differences = Mutex<[String]>([])
            _ = try? await engine.commit(CommitMetadata()) { writer, db in
                for (index, statement) in statements.enumerated() {
                    try? db.execute(sql: statement)
                    // Now and then several changes are seen at once.
                    if looks[index] { try writer.schemaChanged() } else { continue }
                    let found = try Self.differences(writer)
                    differences.withLock { $0 += found.map { "\(statement): \($0)" } }
                }
            }
            let found = differences.withLock { $0 }
            #expect(found == [], "seed \(seed), round \(round)")
            let later = try await engine.withWriter { writer, _ in try Self.differences(writer) }
            #expect(later == [], "seed \(seed), round \(round): \(statements)")
            // Capture knows the columns: each row's events hold what its table holds.
            for entity in try await engine.withWriter({ writer, _ in writer.catalog.live }) {
                let table = quoted(entity.stored)
                let column = entity.live.last { $0.keyOrdinal == 0 }.map { quoted($0.stored) } ?? "id"
                for sql in [
                    "INSERT INTO \(table) DEFAULT VALUES",
                    "UPDATE \(table) SET \(column) = \(round + 100) WHERE rowid % 3 = 0",
                    "DELETE FROM \(table) WHERE rowid % 5 = 4",
                ] {
                    do {
                        if try await engine.commit(sql).commit != nil { written += 1 }
                    } catch let error as StorageError where [.schemaMismatch, .corrupt].contains(error.code) {
                        Issue.record("seed \(seed), round \(round): \(sql): \(error)")
                    } catch {
                        // A constraint or a trigger has refused it.
                    }
                }
            }
            guard round % 10 == 9 else { continue }
            #expect(try await engine.faults() == [], "seed \(seed), round \(round): \(statements)")
        }
        #expect(written > 0)
    }

    @Test("A change that a commit undoes leaves nothing behind a group in which the write guard followed a change")
    func undoneBehindGuardedGroup() async throws {
        let engine = try TestStore.inMemory()
        var generator = HostileDefinitions(seed: 1)
        try await engine.setWriteGuard(true)
        for name in ["a", "b"] { try await engine.adopt(name, generator.entityTable(name)) }
        for change in ["DROP TABLE a", "ALTER TABLE a ADD COLUMN added"] {
            let receipt = try await engine.commit(
                """
                CREATE INDEX i ON b(id); \(change); ROLLBACK TO storage_commit;
                INSERT INTO a(id) SELECT coalesce(max(id), 0) + 1 FROM a
                """)
            #expect(receipt.eventCount == 1, "the row, and nothing of the catalog: \(change)")
        }
        #expect(try await engine.faults() == [])
    }

    @Test("A refused change of the schema leaves nothing to return to")
    func refusedChange() async throws {
        let engine = try TestStore.inMemory()
        var generator = HostileDefinitions(seed: 1)
        try await engine.adopt("a", generator.entityTable("a"))
        await #expect(throws: (any Error).self) { try await engine.commit("CREATE TABLE storage_x(y)") }
        let states = try await engine.withWriter { writer, _ in writer.changes.states.count }
        #expect(states == 0)
        #expect(try await engine.faults() == [])
    }

    @Test("A table with the name of a dropped entity isn't captured")
    func nameOfDroppedEntity() async throws {
        let engine = try TestStore.inMemory()
        var generator = HostileDefinitions(seed: 1)
        for name in ["a", "b"] { try await engine.adopt(name, generator.entityTable(name)) }
        try await engine.commit("INSERT INTO a(id) VALUES (1); DROP TABLE a")
        let receipt = try await engine.commit("\(generator.entityTable("a")); INSERT INTO a(id) VALUES (2)")
        #expect(receipt.commit == nil)
        try await engine.commit("INSERT INTO b(id) VALUES (3)")
        #expect(try await engine.faults() == [])
    }

    // MARK: Work

    /// The work of one commit.
    private func work(_ engine: StorageEngine, _ sql: String) async throws -> SchemaWork {
        let before = try await engine.withWriter { writer, _ in writer.schemaWork }
        try await engine.commit(sql)
        return try await engine.withWriter { writer, _ in writer.schemaWork - before }
    }

    @Test("A change among 300 tables reads only what has changed")
    func workOfChange() async throws {
        let engine = try TestStore.inMemory()
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            for number in 0..<300 {
                try writer.adopt(
                    db, "t\(number)",
                    """
                    CREATE TABLE t\(number)(
                      id INTEGER PRIMARY KEY, a TEXT UNIQUE, b INTEGER DEFAULT 5,
                      \(number == 2 ? "c REFERENCES t1(a)," : "") _position INTEGER NOT NULL DEFAULT 0)
                    """)
            }
        }
        // The tables are made in one commit, and each was read once.
        let made = try await engine.withWriter { writer, _ in writer.schemaWork }
        #expect(made.tables < 400)
        #expect(made.definitions < 400)
        for (sql, rows, tables, definitions) in [
            ("CREATE TABLE other(x, y)", 1, 1, 0),
            ("CREATE INDEX t3_b ON t3(b)", 1, 1, 1),
            ("CREATE TRIGGER t3_a AFTER INSERT ON t3 BEGIN SELECT 1; END", 1, 1, 1),
            ("CREATE VIEW v AS SELECT * FROM t3", 1, 0, 0),
            ("ALTER TABLE t4 ADD COLUMN d TEXT", 1, 1, 1),
            ("ALTER TABLE t4 ADD COLUMN e TEXT DEFAULT 'x'", 1, 1, 1),
            // The other table refers to it.
            ("ALTER TABLE t1 RENAME TO renamed", 2, 2, 2),
            ("ALTER TABLE t5 RENAME COLUMN b TO f", 1, 1, 1),
            ("DROP TABLE t6", 0, 0, 0),
            // What was known before is known again, and capture returns to it.
            ("SAVEPOINT s; ALTER TABLE t7 ADD COLUMN d; ROLLBACK TO s; RELEASE s", 1, 1, 2),
            ("UPDATE t8 SET b = 1", 0, 0, 0),
        ] {
            let work = try await work(engine, sql)
            #expect(work == SchemaWork(rows: rows, tables: tables, definitions: definitions), "\(sql): \(work)")
        }
        #expect(try await engine.faults() == [])
    }

    /// The instructions that SQLite runs on a connection, as a multiple of 100.
    private func instructions(_ database: Connection, _ body: () throws -> Void) rethrows -> Int {
        let hundreds = UnsafeMutablePointer<Int>.allocate(capacity: 1)
        hundreds.initialize(to: 0)
        defer { hundreds.deallocate() }
        sqlite3_progress_handler(
            database.handle, 100,
            { context in
                context?.assumingMemoryBound(to: Int.self).pointee += 1
                return 0
            }, hundreds)
        defer { sqlite3_progress_handler(database.handle, 0, nil, nil) }
        try body()
        return 100 * hundreds.pointee
    }

    @Test("Each of many rows that refer to nothing is counted without reading the schema again")
    func workOfForeignKeyCheck() throws {
        let database = try Connection(opening: ":memory:", flags: SQLITE_OPEN_READWRITE, orFailWith: "no memory")
        defer { database.close() }
        try database.execute((0..<300).map { "CREATE TABLE t\($0)(id INTEGER PRIMARY KEY);" }.joined())
        try database.execute(
            """
            PRAGMA foreign_keys = 0;
            CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES T0(id), gone REFERENCES missing(id));
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 300)
            INSERT INTO child SELECT i, i, i FROM n
            """)
        var broken: [ForeignKeyCheck.Broken] = []
        // Reading the schema of 300 tables for each of 600 rows takes five times as many, with whatever SQLite's plan is.
        let count = try instructions(database) { broken = try ForeignKeyCheck(database).broken }
        #expect(broken.map(\.table) == ["child"])
        #expect(broken.map(\.rows) == [300])
        #expect(count < 100_000)
    }

    @Test("A default is evaluated once for each way in which it is declared")
    func evaluatedDefaults() throws {
        let defaults = DefaultValues()
        for _ in 0..<3 {
            for (type, isAdded, value) in [
                ("", false, StorageValue.real(1)), ("", true, .integer(1)), ("TEXT", false, .text("1.0")),
            ] {
                #expect(try defaults.value(of: "1.0", type: type, isStrict: false, isAdded: isAdded) == value)
            }
        }
        #expect(defaults.evaluations == 3)
    }

    /// A commit that changes many tables keeps one earlier state, not one for each change.
    @Test("States are kept only for what can be undone")
    func keptStates() async throws {
        let engine = try TestStore.inMemory()
        let counts = Mutex<[Int]>([])
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            var generator = HostileDefinitions(seed: 1)
            for number in 0..<5 { try writer.adopt(db, "t\(number)", generator.entityTable("t\(number)")) }
            counts.withLock { $0.append(writer.changes.states.count) }
            try db.execute(sql: "SAVEPOINT s")
            for number in 5..<8 { try writer.adopt(db, "t\(number)", generator.entityTable("t\(number)")) }
            counts.withLock { $0.append(writer.changes.states.count) }
            try db.execute(sql: "ROLLBACK TO s")
            try writer.schemaChanged()
            counts.withLock { $0.append(writer.changes.states.count) }
        }
        let found = counts.withLock { $0 }
        #expect(found == [1, 4, 1])
        let live = try await engine.withWriter { writer, _ in writer.catalog.live.map(\.name) }
        #expect(live == (0..<5).map { "t\($0)" })
        #expect(try await engine.faults() == [])
    }
}

extension SchemaWork {
    fileprivate static func - (left: SchemaWork, right: SchemaWork) -> SchemaWork {
        SchemaWork(
            rows: left.rows - right.rows, tables: left.tables - right.tables,
            definitions: left.definitions - right.definitions)
    }
}
