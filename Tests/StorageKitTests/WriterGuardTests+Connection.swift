import CSQLite
import EntityTestSupport
import Foundation
import GRDB
import StorageKit
import StorageTesting
import Testing

/// The connection, its settings, and the tables of the engine.
extension WriterGuardTests {
    @Test(
        "Settings of the connection stay",
        arguments: [
            "PRAGMA query_only = 1", "PRAGMA ignore_check_constraints = 1", "PRAGMA recursive_triggers = 1",
            "PRAGMA reverse_unordered_selects = 1", "PRAGMA case_sensitive_like = 1", "PRAGMA application_id = 7",
            "PRAGMA locking_mode = EXCLUSIVE", "PRAGMA max_page_count = 20", "PRAGMA trusted_schema = 0",
            "; -- One\n/* two */ pragma\tlocking_mode(exclusive)", "\u{FEFF}PRAGMA max_page_count = 20",
            " \u{0B}PRAGMA max_page_count = 20", "EXPLAIN PRAGMA main.locking_mode = EXCLUSIVE",
            "EXPLAIN PRAGMA ignore_check_constraints = 1", "EXPLAIN QUERY PLAN PRAGMA main.recursive_triggers(1)",
            "EXPLAIN PRAGMA query_only = 1", "PRAGMA wal_autocheckpoint = 0", "EXPLAIN PRAGMA wal_autocheckpoint(10)",
            "EXPLAIN PRAGMA temp.ignore_check_constraints = 1", "EXPLAIN PRAGMA temp.recursive_triggers(1)",
        ])
    func connectionSettings(sql: String) async throws {
        let store = try await makeStore()
        let outcomes = try await together(store, 3) { tx, index in
            if index == 1 { try tx.execute(sql) } else { try tx.save(Note(id: 10 + index, text: "innocent")) }
        }
        #expect(outcomes[0] == nil, "\(outcomes)")
        #expect(outcomes[2] == nil, "\(outcomes)")
        #expect(outcomes[1] != nil)
        try await expect(["first", "innocent", "innocent"], store)
        #expect(try await store.storage.engine.withWriter { try Int.fetchOne($1, sql: "SELECT 'a' LIKE 'A'") } == 1)
        try await store.reopen()
        #expect(try await store.storage.verify().isSound)
    }

    @Test("Deferred foreign keys end with the write")
    func deferredKeysEndWithWrite() async throws {
        let store = try await makeStore()
        try await store.storage.write { try $0.execute("PRAGMA defer_foreign_keys = 1") }
        #expect(
            try await store.storage.engine.withWriter { try Int.fetchOne($1, sql: "PRAGMA defer_foreign_keys") } == 0)
    }

    @Test("Deferred foreign keys are still checked")
    func deferredKeysAreChecked() async throws {
        let store = try await makeStore()
        try await store.storage.write {
            try $0.execute("CREATE TABLE parent(id INTEGER PRIMARY KEY)")
            try $0.execute("CREATE TABLE child(id INTEGER PRIMARY KEY, parent REFERENCES parent(id))")
        }
        let error = await refusal(store) {
            try $0.execute("PRAGMA defer_foreign_keys = 1")
            try $0.execute("INSERT INTO child VALUES (1, 7)")
        }
        #expect(error?.code == .conflict)
        try await store.storage.write {
            try $0.execute("PRAGMA defer_foreign_keys = 1")
            try $0.execute("INSERT INTO child VALUES (1, 7)")
            try $0.execute("INSERT INTO parent VALUES (7)")
        }
        try await expect(["first"], store)
    }

    @Test("Another file can't be attached")
    func attachingIsRefused() async throws {
        let store = try await makeStore()
        let error = await refusal(store) { try $0.execute("ATTACH '/nonexistent/folder/x.db' AS other") }
        #expect(error != nil)
        let another = await refusal(store) { try $0.execute("ATTACH ':memory:' AS other") }
        #expect(another != nil)
        try await expect(["first"], store)
    }

    @Test("An error of a body isn't taken for one of the disk")
    func bodyErrorIsNoDiskError() async throws {
        let store = try await makeStore()
        for code in [StorageError.Code.ioError, .corrupt, .unusable] {
            let error = await refusal(store) { _ in throw StorageError(code, "my own file", remedy: "none") }
            #expect(error?.message == "my own file")
        }
        let broken = store.url.deletingLastPathComponent().appendingPathComponent("broken-\(UUID().uuidString)")
        try Data(repeating: 7, count: 8_192).write(to: broken)
        defer { try? FileManager.default.removeItem(at: broken) }
        let error = await refusal(store) { _ in
            _ = try DatabaseQueue(path: broken.path).read { try $0.tableExists("x") }
        }
        #expect(error?.code == .corrupt)
        try await expect(["first"], store)
    }

    @Test("Temporary objects don't hide entities")
    func temporaryObjects() async throws {
        let store = try await makeStore()
        for sql in [
            "CREATE TEMP TABLE notes AS SELECT * FROM main.notes", "CREATE TEMP VIEW Notes AS SELECT 1 AS id",
            "CREATE TEMP TABLE storage_log(x)",
            "CREATE TEMP TRIGGER evil AFTER UPDATE ON main.notes BEGIN DELETE FROM notes; END",
        ] {
            let error = await refusal(store) { try $0.execute(sql) }
            #expect(error?.code == .invalidArgument, "\(sql): \(String(describing: error))")
        }
        // One of another name is nobody's concern.
        try await store.storage.write { try $0.execute("CREATE TEMP TABLE mine(x); INSERT INTO mine VALUES (1)") }
        try await expect(["first"], store)
    }

    /// Outside of a transaction there is no commit to be refused, and the bar is that of the file.
    @Test(
        "Temporary objects don't outlive the write that made them",
        arguments: [
            "CREATE TEMP TABLE notes(id INTEGER PRIMARY KEY, text, updatedAt, _position)",
            "CREATE TEMP VIEW notes AS SELECT 1 AS id, 'hidden' AS text",
            "CREATE TEMP TRIGGER evil AFTER INSERT ON main.notes BEGIN DELETE FROM notes; END",
        ], ["behind", "rolled back", "behind a refused write", "before a refused write"])
    func temporaryObjectsAreDropped(sql: String, way: String) async throws {
        struct Refusal: Error {}
        let store = try await makeStore()
        let made = Record<Bool>()
        let make: @Sendable (Database) -> Void = { db in made.append((try? db.execute(sql: sql)) != nil) }
        _ = await refusal(store) { tx in
            if way == "rolled back" {
                try tx.execute("ROLLBACK")
                make(tx.database)
                throw Refusal()
            }
            tx.database.afterNextTransaction(onCommit: make, onRollback: make)
            if way == "behind a refused write" { throw Refusal() }
        }
        #expect(made.all == [true])
        if way == "before a refused write" { _ = await refusal(store) { _ in throw Refusal() } }
        let receipt = try await store.storage.save(Note(id: 2, text: "second"))
        #expect(receipt.commit != nil)
        try await store.storage.write { try $0.execute(insert(3, "third")) }
        try await expect(["first", "second", "third"], store)
    }

    /// Nobody's concern when it was made, it would hide the entity that comes to have its name.
    @Test("An entity can't take the name of a temporary table")
    func entityNamedLikeTemporaryTable() async throws {
        let store = try await makeStore()
        try await store.storage.write { tx in
            let notes = "SELECT sql FROM main.sqlite_schema WHERE name = 'notes'"
            let sql = try #require(try String.fetchOne(tx.database, sql: notes))
            try tx.execute(sql.replacing("CREATE TABLE", with: "CREATE TEMP TABLE").replacing("notes", with: "later"))
        }
        let error = await refusal(store) { try $0.execute("ALTER TABLE notes RENAME TO later") }
        #expect(error?.code == .invalidArgument)
        try await expect(["first"], store)
    }

    @Test("Functions of the engine can't be replaced")
    func engineFunctions() async throws {
        let store = try await makeStore()
        let error = await refusal(store) { tx in
            tx.database.add(function: DatabaseFunction("storage_engine", argumentCount: 0) { _ in 1 })
            try tx.execute("DELETE FROM storage_log")
        }
        #expect(error != nil)
        let other = await refusal(store) { tx in
            tx.database.add(function: DatabaseFunction("storage_identical", argumentCount: 2) { _ in 1 })
        }
        #expect(other?.code == .invalidArgument)
        try await store.storage.write {
            $0.database.add(function: DatabaseFunction("mine", argumentCount: 0) { _ in 1 })
        }
        try await expect(["first"], store)
    }

    // MARK: The engine's tables

    @Test(
        "The engine's tables can't be changed",
        arguments: [
            "DROP TRIGGER storage_log_delete; DELETE FROM storage_log", "DROP TABLE storage_log",
            "DROP TABLE storage_tombstone",
            "UPDATE storage_meta SET format = 99", "UPDATE storage_meta SET writer_epoch = 0",
            "DELETE FROM storage_commit_key",
            "INSERT INTO storage_commit_key VALUES ('k', 0, 1, 0, 0)",
            "INSERT INTO storage_tombstone VALUES (77, x'00', 1)",
            "INSERT INTO storage_import VALUES ('x', 'y')", "UPDATE storage_catalog SET name = 'other'",
            "INSERT INTO storage_tag(name, position, _position) VALUES ('bad name', 1, 0)",
            "UPDATE storage_tag SET position = 77", "DELETE FROM storage_note",
            "INSERT INTO storage_operation VALUES (1, 'import', NULL, '{}', '', 1)",
            "CREATE TRIGGER evil AFTER INSERT ON storage_operation BEGIN DELETE FROM notes; END",
            "CREATE INDEX mine ON storage_log(last)", "CREATE TABLE storage_mine(x)",
            "CREATE VIEW storage_view AS SELECT 1",
            "ALTER TABLE notes RENAME TO storage_notes",
            "PRAGMA writable_schema = 1; UPDATE sqlite_schema SET sql = 'x'",
            "ALTER TABLE storage_log ADD COLUMN mine", "INSERT INTO FTS(FTS) VALUES ('delete-all')",
            "DELETE FROM FTS", "DROP TABLE FTS", "DELETE FROM FTS_data",
        ])
    func engineTables(sql: String) async throws {
        let store = try TemporaryStore {
            $0.autoSchema(NoteRecord.self)
            $0.addFullTextSearch(table: "notes", columns: ["text"])
        }
        try await store.storage.save(Note(id: 1, text: "first"))
        let index = try #require(
            try await store.storage.read {
                try String.fetchOne($0, sql: "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL%'")
            })
        let sql = sql.replacing("FTS", with: index)
        try await store.storage.write(idempotencyKey: "key") { try $0.save(Note(id: 5, text: "x")) }
        try await store.storage.delete(Note.self, id: 5)
        try await store.storage.tag("kept")
        try await store.storage.note("kept", at: .head)
        let error = await refusal(store) { try $0.execute(sql) }
        #expect(error != nil, "\(sql)")
        try await expect(["first"], store)
        try await store.reopen()
        #expect(try await store.storage.verify().isSound)
    }

    // MARK: Changes that capture can't see

    @Test("Incremental blob writes are refused")
    func incrementalBlobWrites() async throws {
        let store = try await makeStore()
        let error = await refusal(store) { tx in
            var blob: OpaquePointer?
            let connection = tx.database.sqliteConnection
            #expect(sqlite3_blob_open(connection, "main", "notes", "text", 1, 1, &blob) == SQLITE_OK)
            #expect(sqlite3_blob_write(blob, "FIRST", 5, 0) == SQLITE_OK)
            sqlite3_blob_close(blob)
        }
        #expect(error?.code == .invalidArgument)
        try await expect(["first"], store)
    }

    @Test("Generated columns are refused")
    func generatedColumns() async throws {
        let store = try await makeStore()
        let error = await refusal(store) { tx in
            try tx.execute("ALTER TABLE notes ADD COLUMN twice GENERATED ALWAYS AS (id * 2) VIRTUAL")
            try tx.execute(insert(2, "x"))
        }
        #expect(error?.code == .schemaMismatch)
        try await expect(["first"], store)
    }

    @Test(
        "Text that isn't UTF-8 is refused",
        arguments: ["fe", "c080", "eda080", "f4908080", "e282", "6161616161616161ff", "c3"])
    func invalidUTF8(hex: String) async throws {
        let store = try await makeStore()
        let error = await refusal(store) {
            try $0.execute("UPDATE notes SET text = CAST(x'\(hex)' AS TEXT) WHERE id = 1")
        }
        #expect(error?.code == .invalidValue)
        try await expect(["first"], store)
    }

    @Test("Any UTF-8 text is stored")
    func anyUTF8() async throws {
        let store = try await makeStore()
        let texts = [
            "", "a", "é", "€", "😀", "\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}", "\u{D7FF}\u{E000}", "12345678é",
            "1234567é8",
        ]
        for text in texts {
            try await store.storage.save(Note(id: 1, text: text))
            #expect(try await store.storage.get(Note.self, id: 1)?.text == text)
        }
    }

    @Test("A trace with changes of the schema is refused")
    func traceWithSchemaChange() async throws {
        let store = try await makeStore()
        try await store.storage.write { tx in
            try tx.execute("CREATE TABLE r(id INTEGER PRIMARY KEY, body TEXT, n INTEGER)")
        }
        let error = await refusal(store) { tx in
            tx.database.trace(options: .statement) { _ in }
            try tx.execute("ALTER TABLE notes RENAME COLUMN text TO words")
            try tx.execute("ALTER TABLE notes ADD COLUMN text TEXT")
        }
        #expect(error?.code == .invalidArgument)
        // A trace alone is fine, in its own write.
        let traced = Record<Bool>()
        try await store.storage.write { tx in
            tx.database.trace(options: .statement) { _ in traced.append(true) }
            try tx.execute(insert(2, "second"))
        }
        #expect(!traced.all.isEmpty)
        try await expect(["first", "second"], store)
    }
}
