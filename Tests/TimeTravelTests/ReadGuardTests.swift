import EntityTestSupport
import GRDB
import StorageKit
import StorageTesting
import Testing

/// A read has a connection that later reads use too: what it does there doesn't outlive it.
struct ReadGuardTests {
    /// The store in a file, whose readers have connections of their own, and one in memory, which has a single connection.
    private func withStores(_ body: (Storage) async throws -> Void) async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        // Its folder is removed with it.
        defer { withExtendedLifetime(store) {} }
        for storage in [store.storage, try StorageKit.inMemory { $0.autoSchema(NoteRecord.self) }.facade] {
            try await storage.save(Note(id: 1, text: "first"))
            try await body(storage)
            try await storage.close()
        }
    }

    /// Reads find what they found before, on every connection.
    private func expectUnchanged(_ storage: Storage, _ comment: Comment) async throws {
        try await withThrowingTaskGroup(of: [String].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    try await storage.read { db in
                        let found = try GRDB.Row.fetchAll(
                            db, sql: "SELECT notes.text, 'a' LIKE 'A' AS matches FROM notes")
                        return found.map { "\($0["text"] as String) \($0["matches"] as Bool)" }
                    }
                }
            }
            for try await found in group { #expect(found == ["first true"], comment) }
        }
        #expect(try await storage.get(Note.self, id: 1)?.text == "first", comment)
        #expect(try await storage.history(Note.self, id: 1).count == 1, comment)
    }

    @Test(
        "A read can't make temporary objects",
        arguments: [
            "CREATE TEMP TABLE notes(id INTEGER, text TEXT, updatedAt TEXT, _position INTEGER)",
            "CREATE TEMP VIEW notes AS SELECT 1 AS id, 'hidden' AS text",
            "CREATE TEMP TABLE storage_log(position, last)", "CREATE TEMP TABLE mine(x)",
        ])
    func temporaryObjects(sql: String) async throws {
        try await withStores { storage in
            let error = await #expect(throws: StorageError.self) { try await storage.read { try $0.execute(sql: sql) } }
            #expect(error?.code == .readOnly)
            try await expectUnchanged(storage, "\(sql)")
        }
    }

    @Test(
        "A read can't change the connection for later reads",
        arguments: [
            "PRAGMA case_sensitive_like = 1", "PRAGMA temp.case_sensitive_like = 1", "PRAGMA full_column_names = 1",
            "PRAGMA reverse_unordered_selects = 1", "PRAGMA query_only = 0",
            "PRAGMA query_only = 0; CREATE TEMP TABLE notes(id); PRAGMA query_only = 1",
            "PRAGMA query_only = 0; CREATE TEMP VIEW Notes AS SELECT 1 AS id; PRAGMA query_only = 1",
        ])
    func settings(sql: String) async throws {
        struct OwnError: Error {}
        try await withStores { storage in
            let error = await #expect(throws: StorageError.self) { try await storage.read { try $0.execute(sql: sql) } }
            #expect(error?.code == .invalidArgument)
            try await expectUnchanged(storage, "\(sql)")
            await #expect(throws: OwnError.self) {
                try await storage.read { db in
                    try db.execute(sql: sql)
                    throw OwnError()
                }
            }
            try await expectUnchanged(storage, "\(sql), and an error")
        }
    }

    @Test("A read may add a function of its own, and read settings")
    func functions() async throws {
        try await withStores { storage in
            let found = try await storage.read { db in
                db.add(function: DatabaseFunction("mine", argumentCount: 0) { _ in 7 })
                _ = try GRDB.Row.fetchAll(db, sql: "PRAGMA table_info(notes)")
                return try Int.fetchOne(db, sql: "SELECT mine()")
            }
            #expect(found == 7)
            try await expectUnchanged(storage, "a function")
        }
    }

    @Test("What a read defines another way is as before in later reads")
    func redefinitions() async throws {
        let sql = "SELECT upper('a') || ('x' = 'y' COLLATE NOCASE)"
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        try await store.storage.save(Note(id: 1, text: "first"))
        let found = try await store.storage.read { db in
            db.add(function: DatabaseFunction("upper", argumentCount: 1) { _ in "other" })
            db.add(collation: DatabaseCollation("NOCASE") { _, _ in .orderedSame })
            return try String.fetchOne(db, sql: sql)
        }
        #expect(found == "other1")
        for _ in 0..<8 { #expect(try await store.storage.read { try String.fetchOne($0, sql: sql) } == "A0") }
        try await expectUnchanged(store.storage, "a function and a collation")
    }

    /// A function of the first read shows that later reads use its connection.
    @Test("Reads that define a function of their own keep their connection")
    func ownFunctions() async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        try await store.storage.read { $0.add(function: DatabaseFunction("first", argumentCount: 0) { _ in 1 }) }
        for number in 0..<4 {
            let found = try await store.storage.read { db in
                db.add(function: DatabaseFunction("mine", argumentCount: 0) { _ in number })
                return try Int.fetchOne(db, sql: "SELECT mine() + 10 * first()")
            }
            #expect(found == 10 + number)
        }
    }

    @Test("A read of a store in memory can't redefine functions of SQLite")
    func redefinitionInMemory() async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(NoteRecord.self) }.facade
        try await storage.save(Note(id: 1, text: "first"))
        // To define a function of one's own twice is no such change.
        for _ in 0..<2 {
            try await storage.read { $0.add(function: DatabaseFunction("mine", argumentCount: 0) { _ in 7 }) }
        }
        _ = try? await storage.read { try $0.execute(sql: "PRAGMA case_sensitive_like = 1") }
        try await storage.read { $0.add(function: DatabaseFunction("mine", argumentCount: 0) { _ in 7 }) }
        let error = await #expect(throws: StorageError.self) {
            try await storage.read {
                $0.add(function: DatabaseFunction("upper", argumentCount: 1) { _ in "other" })
            }
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("upper") == true)
        // A read that changes nothing of SQLite's isn't refused for it.
        try await storage.read { $0.add(function: DatabaseFunction("mine", argumentCount: 0) { _ in 7 }) }
    }

    @Test("LIKE is restored in memory, whatever a read makes of it", arguments: [true, false])
    func likeInMemory(throwing: Bool) async throws {
        struct OwnError: Error {}
        let storage = try StorageKit.inMemory { $0.autoSchema(NoteRecord.self) }.facade
        // It may be refused as a changed setting.
        _ = try? await storage.read { db in
            db.add(
                function: DatabaseFunction("like", argumentCount: 2) { _ in
                    if throwing { throw OwnError() }
                    return true
                })
        }
        let found = try await storage.read { try Bool.fetchAll($0, sql: "VALUES ('a' LIKE 'A'), ('a' LIKE 'b')") }
        #expect(found == [true, false])
    }

    @Test("A read of a store in memory can't redefine collations of SQLite", arguments: ["NOCASE", "RTRIM"])
    func collationInMemory(name: String) async throws {
        let storage = try StorageKit.inMemory { $0.autoSchema(NoteRecord.self) }.facade
        let error = await #expect(throws: StorageError.self) {
            try await storage.read { $0.add(collation: DatabaseCollation(name) { _, _ in .orderedSame }) }
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("collation \(name)") == true)
        #expect(try await storage.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
    }

    @Test("What a read that fails redefines in memory is reported, with its own error as the cause")
    func redefinitionByFailedRead() async throws {
        struct OwnError: Error {}
        let storage = try StorageKit.inMemory { $0.autoSchema(NoteRecord.self) }.facade
        let error = await #expect(throws: StorageError.self) {
            try await storage.read { db in
                db.add(function: DatabaseFunction("max", argumentCount: 1) { _ in "other" })
                throw OwnError()
            }
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("function max") == true)
        #expect(error?.cause is OwnError)
        #expect(try await storage.read { try String.fetchOne($0, sql: "SELECT 'a'") } == "a")
    }

    @Test("Aggregates that a read redefines are found, and its connection isn't used again")
    func redefinedAggregate() async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        try await store.storage.read { $0.add(function: DatabaseFunction("max", argumentCount: 1) { _ in 0 }) }
        for _ in 0..<8 {
            let found = try await store.storage.read { try Int.fetchOne($0, sql: "SELECT max(x) FROM (SELECT 7 AS x)") }
            #expect(found == 7)
        }
    }
}
