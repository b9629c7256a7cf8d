import CSQLite
import GRDB
import StorageCore
import StorageEntities
import Testing

@testable import StorageLog

/// Changes of the schema inside commits: events refer to the right columns before, between and after, and the fold of
/// the log stays what the tables hold.
@Suite struct SchemaChangeCaptureTests {
    private static let person = EntityDefinition(
        name: "person",
        columns: [
            .init(ColumnSchema(name: "id", type: "TEXT", notNull: true, primaryKey: true)),
            .init(ColumnSchema(name: "a", type: "TEXT")), .init(ColumnSchema(name: "b", type: "INTEGER")),
            .init(ColumnSchema(name: "c", type: "REAL")),
        ])

    private func open(_ length: Int? = nil) async throws -> StorageEngine {
        let engine = try TestStore.inMemory(segmentLength: length)
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.declare(Self.person)
            try db.execute(sql: "INSERT INTO person(id, a, b, c) VALUES ('1', 'one', 1, 1.5), ('2', 'two', 2, -0.0)")
        }
        return engine
    }

    /// The events of users' rows, in the order of the log.
    private func events(_ engine: StorageEngine, from position: Int64) async throws -> [StorageEvent] {
        try await engine.withWriter { writer, _ in
            var events: [StorageEvent] = []
            var query = LogQuery()
            query.positions = position...Int64.max
            try LogReader(writer.database).forEachEvent(query, catalog: writer.catalog) { batch, index, _ in
                events.append(batch.event(at: index, catalog: writer.catalog))
                return true
            }
            return events
        }
    }

    @Test("Every schema change with rows before and after", arguments: TestSettings.segmentLengths)
    func schemaChangesWithRows(length: Int) async throws {
        let engine = try await open(length)
        let scripts = [
            "UPDATE person SET b = 10; ALTER TABLE person ADD COLUMN d; UPDATE person SET d = b",
            "UPDATE person SET b = 11; ALTER TABLE person ADD COLUMN e TEXT NOT NULL DEFAULT 'x'; UPDATE person SET e = 'y' WHERE id = '1'; DELETE FROM person WHERE id = '2'",
            "INSERT INTO person(id, a) VALUES ('3', 'three'); ALTER TABLE person RENAME COLUMN a TO first; UPDATE person SET first = first || '!'",
            "UPDATE person SET b = b + 1; ALTER TABLE person DROP COLUMN b; UPDATE person SET c = 2.5; DELETE FROM person WHERE id = '3'",
            "UPDATE person SET c = 3.5; ALTER TABLE person RENAME TO human; UPDATE human SET c = 4.5; INSERT INTO human(id) VALUES ('9')",
            "ALTER TABLE human ADD COLUMN r REAL DEFAULT 2; UPDATE human SET r = -0.0 WHERE id = '9'; DELETE FROM human WHERE id = '1'",
            "DROP TABLE human",
        ]
        for script in scripts {
            try await engine.commit(script)
            #expect(try await engine.faults() == [], "\(script)")
        }
        try await engine.seal()
        #expect(try await engine.faults() == [])
    }

    /// A word is a text in DEFAULT, though nowhere else.
    @Test(
        "An old row has the default of a new column",
        arguments: [
            ("DEFAULT 5", 5), ("DEFAULT none", "none"), ("DEFAULT [a b]", "a b"), ("DEFAULT `a`", "a"),
            ("DEFAULT \"a\"", "a"), ("DEFAULT id", "id"), ("DEFAULT TRUE", 1), ("DEFAULT (-5)", -5),
            ("INTEGER DEFAULT '5'", 5), ("TEXT DEFAULT 5.0", "5.0"), ("NUMERIC DEFAULT +1e3", 1_000),
        ] as [(String, StorageValue)])
    func defaultOfOldRow(declaration: String, value: StorageValue) async throws {
        let engine = try await open()
        let head = engine.committed.position
        try await engine.commit(
            """
            ALTER TABLE person ADD COLUMN d \(declaration);
            UPDATE person SET d = 6 WHERE id = '1';
            DELETE FROM person WHERE id = '2';
            """)
        let events = try await events(engine, from: head + 1)
        #expect(events.first?.old?.first?.value == value)
        #expect(events.last?.operation == .delete)
        #expect(events.last?.old?.first { $0.column == "d" }?.value == value)
        #expect(try await engine.faults() == [])
    }

    /// NULL that was written into a column with a default isn't the default.
    @Test("NULL that was written into a new column is NULL")
    func writtenNull() async throws {
        let engine = try await open()
        let head = engine.committed.position
        try await engine.commit(
            """
            ALTER TABLE person ADD COLUMN d DEFAULT 5;
            INSERT INTO person(id, d) VALUES ('7', NULL), ('8', NULL), ('9', NULL);
            UPDATE person SET d = 5 WHERE id = '7';
            UPDATE person SET d = 6 WHERE id = '8';
            DELETE FROM person WHERE id = '9';
            """)
        let events = try await events(engine, from: head + 1)
        #expect(
            events.filter { $0.operation != .insert }.compactMap { $0.old?.first { $0.column == "d" }?.value } == [
                .null, .null, .null,
            ])
        #expect(try await engine.faults() == [])
    }

    private static let copiedDefaults = [
        "TEXT NOT NULL DEFAULT 'open'", "TEXT DEFAULT ''", "DEFAULT 1.0", "REAL DEFAULT 1", "BLOB DEFAULT x'0102'",
        "TEXT",
    ]

    /// `INSERT … SELECT *` between tables with the same columns copies records as they are, and older ones lack the new column.
    @Test("A row copied from another entity has the default of a new column", arguments: copiedDefaults)
    func rowOfAnotherEntity(declaration: String) async throws {
        let engine = try TestStore.inMemory()
        for name in ["source", "target"] {
            try await engine.adopt(
                name, "CREATE TABLE \(name)(id INTEGER PRIMARY KEY, a TEXT, _position INTEGER NOT NULL DEFAULT 0)")
        }
        try await engine.commit("INSERT INTO source(id, a) VALUES (1, 'one'), (2, 'two'), (3, 'three')")
        try await engine.commit(
            """
            ALTER TABLE source ADD COLUMN d \(declaration);
            ALTER TABLE target ADD COLUMN d \(declaration);
            INSERT INTO target SELECT * FROM source;
            UPDATE target SET a = 'first' WHERE id = 1;
            DELETE FROM target WHERE id = 2;
            DELETE FROM source;
            """)
        #expect(try await engine.faults() == [])
        try await engine.commit("UPDATE target SET d = 7")
        #expect(try await engine.faults() == [])
    }

    @Test(
        "A row copied from a table without history has the default of the column it lacks, and a position of its own",
        arguments: copiedDefaults)
    func rowOfOtherTable(declaration: String) async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "target",
            """
            CREATE TABLE target(
              id INTEGER PRIMARY KEY, a TEXT, d \(declaration), _position INTEGER NOT NULL DEFAULT 0)
            """)
        try await engine.commit(
            """
            CREATE TABLE source(id INTEGER PRIMARY KEY, a TEXT);
            INSERT INTO source VALUES (1, 'one'), (2, 'two'), (3, 'three'), (4, 'four');
            ALTER TABLE source ADD COLUMN d \(declaration);
            ALTER TABLE source ADD COLUMN _position INTEGER NOT NULL DEFAULT 0;
            UPDATE source SET _position = 1 WHERE id = 4;
            """)
        let head = engine.committed.position
        try await engine.commit("INSERT INTO target SELECT * FROM source")
        #expect(try await engine.faults() == [])
        let positions = try await engine.withWriter { _, db in
            try Int64.fetchAll(db, sql: "SELECT _position FROM target ORDER BY id")
        }
        #expect(positions == [head + 1, head + 2, head + 3, head + 4])
        try await engine.commit(
            """
            DELETE FROM target;
            INSERT INTO target SELECT * FROM source;
            UPDATE target SET d = 7 WHERE id = 1;
            DELETE FROM target WHERE id = 2;
            """)
        #expect(try await engine.faults() == [])
    }

    @Test("A schema change that was rolled back is forgotten")
    func rolledBackSchemaChange() async throws {
        let engine = try await open()
        struct Stop: Error {}
        let scripts = [
            "ALTER TABLE person ADD COLUMN d DEFAULT 1; UPDATE person SET d = 2",
            "ALTER TABLE person RENAME COLUMN a TO z; UPDATE person SET z = ''",
            "ALTER TABLE person DROP COLUMN b; UPDATE person SET a = ''",
            "ALTER TABLE person RENAME TO human; UPDATE human SET a = ''", "DROP TABLE person",
        ]
        for script in scripts {
            let head = engine.committed
            await #expect(throws: Stop.self) {
                _ = try await engine.commit(CommitMetadata()) { _, db in
                    try db.execute(sql: script)
                    throw Stop()
                }
            }
            #expect(engine.committed == head)
            try await engine.commit("UPDATE person SET b = b + 1, a = a || 'x'")
            #expect(try await engine.faults() == [], "\(script)")
        }
    }

    /// SQLite counts versions of the schema again from where a savepoint began, so the same number comes twice.
    @Test("A savepoint that is undone takes its columns back")
    func undoneSavepoint() async throws {
        let scripts = [
            "SAVEPOINT s; ALTER TABLE person ADD COLUMN d; UPDATE person SET d = 1; ROLLBACK TO s; UPDATE person SET a = 'q'",
            "SAVEPOINT s; ALTER TABLE person ADD COLUMN d; UPDATE person SET d = 1; ROLLBACK TO s; ALTER TABLE person ADD COLUMN e; UPDATE person SET e = 2",
            "ALTER TABLE person ADD COLUMN d; UPDATE person SET d = 1; SAVEPOINT s; ALTER TABLE person DROP COLUMN b; UPDATE person SET d = 2; ROLLBACK TO s; UPDATE person SET b = 77, d = 3",
            "SAVEPOINT s; ALTER TABLE person RENAME TO human; DELETE FROM human; ROLLBACK TO s; RELEASE s; DELETE FROM person WHERE id = '1'",
            "SAVEPOINT s; DROP TABLE person; CREATE TABLE other(x); ROLLBACK TO s; UPDATE person SET b = 5",
            "ALTER TABLE person ADD COLUMN d; SAVEPOINT s; ALTER TABLE person RENAME COLUMN d TO e; UPDATE person SET e = 1; ROLLBACK TO s; ALTER TABLE person RENAME COLUMN a TO f; UPDATE person SET d = 1, f = ''",
        ]
        for script in scripts {
            let engine = try await open()
            try await engine.commit(script)
            #expect(try await engine.faults() == [], "\(script)")
            try await engine.commit("INSERT INTO person(id) VALUES ('later')")
            #expect(try await engine.faults() == [], "\(script)")
        }
    }

    @Test("A schema change that can't be followed is forgiven if its savepoint is undone, and only then")
    func undoneRefusedChange() async throws {
        let engine = try await open()
        let change = "ALTER TABLE person ADD COLUMN g AS (b * 2); SELECT count(g) FROM person"
        for script in [
            "SAVEPOINT s; \(change); ROLLBACK TO s; UPDATE person SET b = 5",
            "UPDATE person SET b = 6; SAVEPOINT s; UPDATE person SET b = 7; \(change); ROLLBACK TO s; UPDATE person SET c = 5",
            "SAVEPOINT r; SAVEPOINT s; \(change); RELEASE s; ROLLBACK TO r; ALTER TABLE person ADD COLUMN d; UPDATE person SET d = 5",
        ] {
            try await engine.commit(script)
            #expect(try await engine.faults() == [], "\(script)")
        }
        for script in [
            "SAVEPOINT s; \(change); RELEASE s; UPDATE person SET b = 8",
            "\(change); SAVEPOINT s; UPDATE person SET b = 8; ROLLBACK TO s",
            "ALTER TABLE person ADD COLUMN g AS (b * 2); SAVEPOINT s; SELECT count(g) FROM person; ROLLBACK TO s",
        ] {
            #expect(await code { try await engine.commit(script) } == .schemaMismatch, "\(script)")
            #expect(try await engine.faults() == [], "\(script)")
        }
    }

    /// A column that is dropped and one that is added are two columns, also where nothing comes between.
    @Test("Dropping and adding isn't renaming")
    func droppingAndAdding() async throws {
        let scripts = [
            "ALTER TABLE person DROP COLUMN c; ALTER TABLE person ADD COLUMN d",
            "ALTER TABLE person DROP COLUMN c; ALTER TABLE person ADD COLUMN c; UPDATE person SET c = 'new'",
            "ALTER TABLE person RENAME COLUMN a TO x; ALTER TABLE person RENAME COLUMN b TO a; ALTER TABLE person RENAME COLUMN x TO b; UPDATE person SET a = 3",
            "ALTER TABLE person RENAME TO other; ALTER TABLE other RENAME TO person; UPDATE person SET b = 9",
            "ALTER TABLE person DROP COLUMN b; ALTER TABLE person DROP COLUMN c; ALTER TABLE person ADD COLUMN b DEFAULT 'b'; DELETE FROM person WHERE id = '1'",
        ]
        for script in scripts {
            let engine = try await open()
            try await engine.commit(script)
            #expect(try await engine.faults() == [], "\(script)")
        }
    }

    @Test("Replacing a table is refused")
    func replacingTable() async throws {
        let engine = try await open()
        let scripts = [
            "DROP TABLE person; CREATE TABLE person(id TEXT NOT NULL PRIMARY KEY, a TEXT, b INTEGER, c, _position INTEGER NOT NULL DEFAULT 0)",
            "DROP TABLE person; CREATE TABLE person(id TEXT NOT NULL PRIMARY KEY, a TEXT, b INTEGER, c, _position INTEGER NOT NULL DEFAULT 0); INSERT INTO person(id) VALUES ('x')",
            "CREATE TABLE fresh AS SELECT * FROM person; DROP TABLE person; ALTER TABLE fresh RENAME TO person",
            "ALTER TABLE person RENAME TO old; CREATE TABLE person(id); DROP TABLE old; DROP TABLE person; CREATE TABLE old(x)",
            "ALTER TABLE person RENAME COLUMN _position TO p",
        ]
        for script in scripts {
            #expect(await code { try await engine.commit(script) } == .schemaMismatch, "\(script)")
            try await engine.commit("UPDATE person SET b = b + 1")
            #expect(try await engine.faults() == [], "\(script)")
        }
    }

    @Test("Columns that hide every name of the rowid are refused")
    func hiddenRowid() async throws {
        let engine = try await open()
        try await engine.commit("ALTER TABLE person ADD COLUMN rowid; ALTER TABLE person ADD COLUMN OID")
        try await engine.commit("UPDATE person SET a = a || '!', rowid = 7")
        #expect(try await engine.faults() == [])
        for script in [
            "ALTER TABLE person ADD COLUMN _rowid_", "ALTER TABLE person RENAME COLUMN a TO _ROWID_",
            "ALTER TABLE person ADD COLUMN _rowid_; UPDATE person SET b = 7",
        ] {
            #expect(await code { try await engine.commit(script) } == .schemaMismatch, "\(script)")
            try await engine.commit("UPDATE person SET b = b + 1, OID = 8")
            #expect(try await engine.faults() == [], "\(script)")
        }
        try await engine.commit("ALTER TABLE person DROP COLUMN rowid; ALTER TABLE person ADD COLUMN _rowid_")
        try await engine.commit("UPDATE person SET b = b + 1, _rowid_ = 9")
        #expect(try await engine.faults() == [])
    }

    /// Another table may be given the freed pages of a dropped one; that doesn't make it the same entity.
    @Test("A table on the same page is another table")
    func tableOnFreedPage() async throws {
        let engine = try await open()
        try await engine.commit(
            "DROP TABLE person; CREATE TABLE unrelated(id TEXT NOT NULL PRIMARY KEY, a, b, c, _position)")
        let live = try await engine.withWriter { writer, _ in writer.catalog.live.map(\.stored) }
        #expect(live.isEmpty)
        #expect(try await engine.faults() == [])
    }

    @Test("An entity can be declared again after it was dropped")
    func redeclaringDroppedEntity() async throws {
        let engine = try await open()
        try await engine.commit("DROP TABLE person")
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.declare(Self.person)
            try db.execute(sql: "INSERT INTO person(id) VALUES ('1')")
        }
        #expect(try await engine.faults() == [])
    }

    @Test("A failed commit keeps the columns of its neighbour")
    func failedNeighbourInGroup() async throws {
        let engine = try await open()
        try await engine.withWriter { writer, db in
            try writer.group(db) {
                _ = try writer.commit(CommitMetadata()) { try db.execute(sql: "ALTER TABLE person ADD COLUMN d") }
                #expect(throws: (any Error).self) {
                    try writer.commit(CommitMetadata()) {
                        try db.execute(sql: "ALTER TABLE person ADD COLUMN e; UPDATE person SET e = 1")
                        try db.execute(sql: "no such statement")
                    }
                }
                _ = try writer.commit(CommitMetadata()) { try db.execute(sql: "UPDATE person SET d = 4") }
            }
        }
        #expect(try await engine.faults() == [])
    }

    @Test("A failed group forgets the columns of all its commits")
    func failedGroup() async throws {
        let engine = try await open()
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await engine.withWriter { writer, db in
                try writer.group(db) {
                    _ = try writer.commit(CommitMetadata()) { try db.execute(sql: "ALTER TABLE person ADD COLUMN d") }
                    _ = try? writer.commit(CommitMetadata()) { throw Stop() }
                    throw Stop()
                }
            }
        }
        try await engine.commit("ALTER TABLE person ADD COLUMN e; UPDATE person SET e = 1")
        #expect(try await engine.faults() == [])
    }

    /// SQLite compares names by their bytes, Swift by their meaning: two spellings of é are two columns and tables.
    @Test("Two spellings of a name are two names")
    func namesCompareByBytes() async throws {
        let engine = try await open()
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        try await engine.commit(
            "ALTER TABLE person ADD COLUMN \"\(composed)\"; ALTER TABLE person ADD COLUMN \"\(decomposed)\"")
        try await engine.commit("UPDATE person SET \"\(composed)\" = 1, \"\(decomposed)\" = 2")
        #expect(try await engine.faults() == [])
        for name in [composed, decomposed] {
            _ = try await engine.commit(CommitMetadata()) { writer, db in
                var definition = Self.person
                definition.name = name
                definition.stored = name
                try writer.declare(definition)
                try db.execute(sql: "INSERT INTO \"\(name)\"(id) VALUES ('1')")
            }
        }
        for name in [composed, decomposed] { try await engine.commit("UPDATE \"\(name)\" SET b = 1") }
        #expect(try await engine.faults() == [])
        try await engine.commit("ALTER TABLE \"\(composed)\" RENAME COLUMN a TO \"\(composed)\"")
        try await engine.commit(
            "ALTER TABLE \"\(composed)\" RENAME COLUMN \"\(composed)\" TO \"\(decomposed)\"; UPDATE \"\(composed)\" SET \"\(decomposed)\" = 'x'"
        )
        #expect(try await engine.faults() == [])
    }

    @Test("Declaring what is there changes nothing")
    func redeclaring() async throws {
        let engine = try await open()
        let receipt = try await engine.commit(CommitMetadata()) { writer, _ in try writer.declare(Self.person) }
        #expect(receipt.commit == nil)
        var wider = Self.person
        wider.columns.append(.init(ColumnSchema(name: "d", type: "INTEGER", notNull: true)))
        let definition = wider
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            try writer.declare(definition)
            try db.execute(sql: "UPDATE person SET d = d + 1 WHERE id = '1'")
        }
        #expect(try await engine.faults() == [])
        let again = try await engine.commit(CommitMetadata()) { writer, _ in try writer.declare(definition) }
        #expect(again.commit == nil)
    }
}
