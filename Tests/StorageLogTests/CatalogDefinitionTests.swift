import CSQLite
import Foundation
import GRDB
import SchemaTestSupport
import StorageCore
import StorageMaintenance
import TestSupport
import Testing

@testable import StorageLog

/// The catalog says of tables what SQLite says of them, so that nothing has to be guessed from names and texts later.
@Suite struct CatalogDefinitionTests {
    private func entity(_ name: String, of engine: StorageEngine) async throws -> CatalogEntity {
        let found = try await engine.withWriter { writer, _ in
            // What is stored, and not only what is in memory.
            try Catalog.load(writer.database).entity(named: name)
        }
        return try #require(found)
    }

    private func dump(_ engine: StorageEngine, _ sql: String) async throws -> [String] {
        try await engine.withWriter { _, db in try String.fetchAll(db, sql: sql) }
    }

    /// Nothing marks the end of a statement that a literal, a comment or a trigger can't hold.
    @Test("Statements are never cut inside a literal or comment")
    func statementsAreKeptWhole() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "q",
            """
            CREATE TABLE q(
              id INTEGER PRIMARY KEY, t TEXT DEFAULT 'a;
            CREATE b', /* a comment;
            CREATE TABLE c */ _position INTEGER NOT NULL DEFAULT 0)
            """)
        try await engine.commit(
            """
            CREATE INDEX q_t ON q(t) WHERE t <> ';
            CREATE d';
            CREATE TRIGGER q_inserted AFTER INSERT ON q BEGIN
            SELECT ';
            CREATE e'; SELECT 2; END;
            INSERT INTO q(id) VALUES (1)
            """)
        let objects = "SELECT sql FROM sqlite_schema WHERE tbl_name = 'q' AND name NOT LIKE 'sqlite%' ORDER BY name"
        let before = try await dump(engine, objects)
        #expect(before.count == 3)
        #expect(try await entity("q", of: engine).definition.count == 3)
        _ = try await Rebuild(engine, ["q"]).run()
        // Renaming has put quotes around the table's name, and nothing else is different.
        #expect(try await dump(engine, objects).dropFirst() == before.dropFirst())
        #expect(try await dump(engine, "SELECT t FROM q") == ["a;\nCREATE b"])
        let findings = try await engine.withWriter { writer, _ in
            var verifier = Verifier(writer.database)
            return try verifier.run().findings.map { "\($0)" }
        }
        #expect(findings == [])
    }

    /// Swift takes a quotation mark and a mark behind it for one character, and a no-break space for a space.
    @Test(
        "A table is rebuilt whatever its name begins with",
        arguments: ["\u{301} x", "\u{301}(", "\u{FE0F}", "a\u{A0}b", "x\"", "\"\u{301}\"\"", "[a]", "a'b"])
    func namesOfTables(name: String) async throws {
        let engine = try TestStore.inMemory()
        let table = quoted(name)
        try await engine.adopt(
            name, "CREATE TABLE \(table)(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit("INSERT INTO \(table)(id) VALUES (7)")
        _ = try await Rebuild(engine, [name]).run()
        #expect(try await dump(engine, "SELECT id FROM \(table)") == ["7"])
    }

    @Test("Affinity, collation and strictness are kept")
    func affinityCollationAndStrictness() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "plain",
            """
            CREATE TABLE plain(
              id TEXT COLLATE NOCASE PRIMARY KEY, a ANY, b, c NVARCHAR(10) COLLATE RTRIM, d DOUBLE, e POINT,
              _position INTEGER NOT NULL DEFAULT 0)
            """)
        try await engine.adopt(
            "strict",
            "CREATE TABLE strict(id INT NOT NULL PRIMARY KEY, a ANY, b REAL, _position INT NOT NULL DEFAULT 0) STRICT")
        let plain = try await entity("plain", of: engine)
        #expect(!plain.isStrict)
        #expect(plain.live.map(\.affinity) == [.text, .numeric, .blob, .text, .real, .integer])
        #expect(plain.live.map(\.collation) == ["NOCASE", "BINARY", "BINARY", "RTRIM", "BINARY", "BINARY"])
        let strict = try await entity("strict", of: engine)
        #expect(strict.isStrict)
        #expect(strict.live.map(\.affinity) == [.integer, .blob, .real])
        try await engine.commit("ALTER TABLE strict ADD COLUMN c TEXT COLLATE NOCASE")
        #expect(try await entity("strict", of: engine).live.last?.collation == "NOCASE")
    }

    /// The one rule that SQLite can't be asked about, held to what it does: a table that is made of another one gets types
    /// that stand for the affinities of its columns.
    @Test("The rule for affinities is SQLite's")
    func affinityRule() throws {
        let database = try DatabaseQueue()
        let types = [
            "", "ANY", "INT", "BIGINT", "POINT", "CHARINT", "VARCHAR(10)", "CLOB", "TEXT", "BLOB", "LONGBLOB", "REAL",
            "DOUBLE PRECISION", "FLOAT", "NUMERIC", "DATETIME", "BOOLEAN", "DECIMAL(10,5)", "STRING", "blobreal",
        ]
        let names = ["INT": ColumnAffinity.integer, "TEXT": .text, "": .blob, "REAL": .real, "NUM": .numeric]
        try database.write { db in
            for isStrict in [false, true] {
                for type in isStrict ? ["ANY", "INT", "INTEGER", "REAL", "TEXT", "BLOB"] : types {
                    try db.execute(
                        sql: """
                            DROP TABLE IF EXISTS one; DROP TABLE IF EXISTS other;
                            CREATE TABLE one(c \(type)) \(isStrict ? "STRICT" : "");
                            CREATE TABLE other AS SELECT c FROM one;
                            """)
                    let found = try String.fetchOne(db, sql: "SELECT type FROM pragma_table_info('other')")
                    #expect(
                        names[try #require(found)] == ColumnAffinity(declaredType: type, isStrict: isStrict), "\(type)")
                }
            }
        }
    }

    @Test("The values that a column converts are those that SQLite converts")
    func conversionRule() throws {
        let database = try DatabaseQueue()
        let values: [StorageValue] = [
            .null, 0, 7, -7, .integer(.max), .integer(.min), 0.0, -0.0, 7.0, 0.1, 1e300, -1e300, .real(.infinity),
            .real(0x1p53), .real(0x1p63), "", "a", "7", "007", " 7 ", "+7", "-0", "7.0", "7.10", "7e2", "0x7", "7a",
            "9223372036854775807", "9223372036854775808", "0.1234567890123456789", .blob(Data("7".utf8)),
        ]
        try database.write { db in
            for type in ["", "BLOB", "TEXT", "INTEGER", "NUMERIC", "DATETIME", "BOOLEAN", "REAL", "DOUBLE"] {
                try db.execute(sql: "DROP TABLE IF EXISTS one; CREATE TABLE one(c \(type))")
                for value in values {
                    try db.execute(sql: "DELETE FROM one")
                    try db.execute(sql: "INSERT INTO one VALUES (?)", arguments: [value.databaseValue])
                    let found = try #require(try DatabaseValue.fetchOne(db, sql: "SELECT c FROM one"))
                    let stored = ColumnAffinity(declaredType: type).conversion(of: value) ?? value
                    #expect(StorageValue.fromDatabaseValue(found) == stored, "\(value) in \(type)")
                }
            }
        }
    }

    @Test("Generated columns are refused")
    func generatedColumns() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "docs", "CREATE TABLE docs(id TEXT NOT NULL PRIMARY KEY, n INTEGER, _position INTEGER NOT NULL DEFAULT 0)")
        let error = await #expect(throws: StorageError.self) {
            try await engine.commit("ALTER TABLE docs ADD COLUMN g GENERATED ALWAYS AS (n * 2) VIRTUAL")
        }
        #expect(error?.code == .schemaMismatch)
        #expect(error?.message.contains("generated column \"g\"") == true)
        try await engine.commit("INSERT INTO docs(id, n) VALUES ('a', 1)")
        #expect(try await engine.integer("SELECT count(*) FROM docs") == 1)
    }

    /// The store's own names are no way out of history.
    @Test("A table can't take a reserved name")
    func reservedNames() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "docs", "CREATE TABLE docs(id TEXT NOT NULL PRIMARY KEY, n INTEGER, _position INTEGER NOT NULL DEFAULT 0)")
        try await engine.commit("INSERT INTO docs(id, n) VALUES ('a', 1)")
        for name in ["storage_docs", "Storage_docs"] {
            let error = await #expect(throws: StorageError.self) {
                try await engine.commit("ALTER TABLE docs RENAME TO \(name)")
            }
            #expect(error?.code == .schemaMismatch)
            #expect(error?.message.contains("reserved") == true, "\(String(describing: error))")
        }
        try await engine.commit("UPDATE docs SET n = 2")
        #expect(try await engine.integer("SELECT n FROM docs") == 2)
        #expect(try await entity("docs", of: engine).isDropped == false)
    }

    /// SQLite finds them where a statement names its own.
    @Test(
        "A write can't make a table or view that hides one of SQLite's own",
        arguments: [
            "CREATE TABLE pragma_table_info(x)", "CREATE TABLE Pragma_new(x)", "CREATE TABLE json_each(x)",
            "CREATE VIEW dbstat AS SELECT 1", "ALTER TABLE docs RENAME TO json_tree",
        ])
    func builtInNames(sql: String) async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "docs", "CREATE TABLE docs(id TEXT NOT NULL PRIMARY KEY, n INTEGER, _position INTEGER NOT NULL DEFAULT 0)")
        let error = await #expect(throws: StorageError.self) { try await engine.commit(sql) }
        #expect(error?.code == .invalidName, "\(String(describing: error))")
        #expect(error?.message.contains("SQLite has built in") == true, "\(String(describing: error))")
        try await engine.commit("CREATE TABLE other(id INTEGER PRIMARY KEY AUTOINCREMENT)")
        try await engine.commit("INSERT INTO docs(id, n) VALUES ('a', 1)")
        #expect(try await engine.integer("SELECT count(*) FROM docs") == 1)
    }

    /// What the body does next doesn't make it the reason.
    @Test("A change that was refused names its reason after the schema is as before")
    func refusedAndDropped() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "docs", "CREATE TABLE docs(id TEXT NOT NULL PRIMARY KEY, n INTEGER, _position INTEGER NOT NULL DEFAULT 0)")
        let error = await #expect(throws: StorageError.self) {
            try await engine.commit("CREATE TABLE json_each(x); DROP TABLE json_each; UPDATE docs SET n = 2")
        }
        #expect(error?.code == .invalidName, "\(String(describing: error))")
        #expect(error?.message.contains("json_each") == true, "\(String(describing: error))")
        try await engine.commit("INSERT INTO docs(id, n) VALUES ('a', 1)")
    }

    @Test("A store of an earlier format is refused")
    func earlierFormat() async throws {
        let folder = try TemporaryFolder()
        let engine = try StorageEngine.openStore(path: folder.path(), configuration: TestStore.configuration())
        try await engine.close()
        let foreign = try DatabaseQueue.foreign(path: folder.path())
        try await foreign.write { try $0.execute(sql: "UPDATE storage_meta SET format = 3") }
        // Here, and not when its last user lets go of it, which may be beside the next opening.
        try foreign.close()
        for isReadOnly in [false, true] {
            var configuration = TestStore.configuration()
            configuration.isReadOnly = isReadOnly
            let error = #expect(throws: StorageError.self) {
                try StorageEngine.openStore(path: folder.path(), configuration: configuration)
            }
            #expect(error?.code == .unsupportedFormat)
            #expect(error?.message.contains("format 3; this version knows format 4") == true)
        }
    }

    /// Raw SQL that changes rows in any order leaves each with the position of its last event.
    @Test("Rows of several tables get the positions of their last events")
    func positionsAfterRawSQL() async throws {
        let engine = try TestStore.inMemory()
        for name in ["one", "other"] {
            try await engine.adopt(
                name, "CREATE TABLE \(name)(id INTEGER PRIMARY KEY, n, _position INTEGER NOT NULL DEFAULT 0)")
        }
        try await engine.commit(
            """
            INSERT INTO other(id) VALUES (5), (1); INSERT INTO one(id) VALUES (3), (9), (4);
            UPDATE other SET n = 1 WHERE id = 1; UPDATE one SET n = id; DELETE FROM one WHERE id = 9
            """)
        let findings = try await engine.withWriter { writer, _ in
            var verifier = Verifier(writer.database)
            return try verifier.run().findings.map { "\($0)" }
        }
        #expect(findings == [])
    }

    private final class CountingOwner: ConnectionOwner {
        var forgotten = 0

        func forgetCompiledStatements() { forgotten += 1 }

        func checkCancellation() {}
    }

    @Test("GRDB forgets what is compiled for one table before the next, and before each reading of the schema")
    func forgottenStatements() async throws {
        let engine = try TestStore.inMemory()
        for number in 0..<9 {
            try await engine.adopt(
                "t\(number)", "CREATE TABLE t\(number)(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        }
        try await engine.read { db in
            let owner = CountingOwner()
            try withExtendedLifetime(owner) {
                let connection = try Connection(db.connection.handle, owner: owner)
                _ = try IntrospectedSchema(connection)
                #expect(owner.forgotten == 1)
                var verifier = Verifier(connection)
                #expect(try verifier.run().isSound)
                #expect(owner.forgotten > 9)
            }
        }
    }

    @Test("GRDB forgets what is compiled to inspect one table for adoption before the next")
    func forgottenInspections() throws {
        try DatabaseQueue().inDatabase { db in
            for number in 0..<9 { try db.execute(sql: "CREATE TABLE t\(number)(id INTEGER PRIMARY KEY)") }
            let owner = CountingOwner()
            try withExtendedLifetime(owner) {
                let connection = try Connection(db.connection.handle, owner: owner)
                #expect(try AdoptionInspection(connection).plan([]).adopted.count == 9)
                #expect(owner.forgotten >= 9)
            }
        }
    }

    @Test(
        "Text functions of a connection without GRDB have GRDB's results",
        arguments: [
            "'straße ΑΣ'", "''", "7", "0.5", "NULL", "x''", "x'C3A962'", "x'61FF62'", "x'6100FF'", "x'610062'",
            "x'EFBBBF61'", "'a' || char(0) || 'b'", "CAST(x'61FF62' AS TEXT)",
        ])
    func textFunctions(value: String) throws {
        let connection = try Connection.inMemory()
        defer { connection.close() }
        try DatabaseQueue().inDatabase { db in
            for form in ["Capitalized", "Lowercase", "Uppercase"] {
                for name in ["swift\(form)String", "swiftLocalized\(form)String"] {
                    let sql = "SELECT typeof(\(name)(\(value))) || hex(\(name)(\(value)))"
                    let select = try PreparedStatement(connection, sql)
                    #expect(try select.step())
                    #expect(try String.fetchOne(db, sql: sql) == select.string(0), "\(name)")
                }
            }
        }
    }

    @Test("A table that lacks only a column has no additions, also with a collation of GRDB's")
    func lackingColumn() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "t",
            """
            CREATE TABLE t(
              id INTEGER PRIMARY KEY, a TEXT COLLATE swiftCompare, b, _position INTEGER NOT NULL DEFAULT 0)
            """)
        let entity = try await entity("t", of: engine)
        try DatabaseQueue().inDatabase { db in
            try db.execute(sql: entity.definitions.table)
            try db.execute(sql: "ALTER TABLE t DROP COLUMN b")
            let definitions = try StoredDefinitions(db.connection)
            let change = try #require(try ForeignSchemaChange(of: entity, in: definitions))
            #expect(change.lacksColumns)
            #expect(!change.hasAdditions)
        }
    }

    @Test(
        "A command in a remedy names a table as a shell and the tool read it",
        arguments: [("two words", "'two words'"), ("-x", "-- -x")])
    func quotedName(name: String, words: String) async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            name, "CREATE TABLE \"\(name)\"(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
        let entity = try await entity(name, of: engine)
        try DatabaseQueue().inDatabase { db in
            let change = try #require(try ForeignSchemaChange(of: entity, in: StoredDefinitions(db.connection)))
            #expect(change.error.remedy.hasSuffix("storagekit rebuild \(words)"))
        }
    }

    /// How many statements that read SQLite's schema a verification, or the plan of a rebuild, runs in a store of many tables.
    private func schemaReadings(_ tables: Int) async throws -> Int {
        let engine = try TestStore.inMemory()
        _ = try await engine.commit(CommitMetadata()) { writer, db in
            for number in 0..<tables {
                try writer.adopt(
                    db, "t\(number)",
                    "CREATE TABLE t\(number)(id INTEGER PRIMARY KEY, _position INTEGER NOT NULL DEFAULT 0)")
            }
        }
        return try await engine.read { db in
            let connection = try db.connection
            let readings = Counter()
            db.trace { event in
                if "\(event)".contains("sqlite_schema") || "\(event)".contains("pragma_") { readings.add() }
            }
            defer { db.trace(nil) }
            var verifier = Verifier(connection)
            #expect(try verifier.run().findings.map { "\($0)" } == [])
            try ForeignSchemaChange.check(Catalog.load(connection), in: connection)
            #expect(try RebuildPlan([], connection).tables.count == tables)
            return readings.value
        }
    }

    @Test("Verifying reads the schema as often for many tables as for few")
    func schemaReadings() async throws {
        let few = try await schemaReadings(2)
        #expect(few > 0)
        #expect(try await schemaReadings(40) == few)
    }
}
