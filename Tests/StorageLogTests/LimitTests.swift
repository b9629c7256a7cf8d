import CSQLite
import Foundation
import GRDB
import StorageCore
import StorageEntities
import Testing

@testable import StorageLog

/// A value is stored exactly or refused with a clear error; a refusal leaves nothing behind.
@Suite(.serialized) struct LimitTests {
    private func open() async throws -> StorageEngine {
        let engine = try TestStore.inMemory()
        try await engine.adopt(
            "t", "CREATE TABLE t(id INTEGER PRIMARY KEY, v, w, _position INTEGER NOT NULL DEFAULT 0)")
        return engine
    }

    @Test("Text with NUL is refused")
    func textWithNUL() async throws {
        let engine = try await open()
        let head = engine.committed
        #expect(
            await code { try await engine.commit("INSERT INTO t(v) VALUES ('a' || char(0) || 'b')") } == .invalidValue)
        #expect(
            await code { try await engine.commit("INSERT INTO t(v) VALUES (CAST(x'00' AS TEXT))") } == .invalidValue)
        let bound = await code {
            _ = try await engine.commit(CommitMetadata()) { writer, _ in
                let insert = try writer.statement("INSERT INTO t(v) VALUES (?)")
                insert.writer.bind("a\0b", at: 1)
                try insert.execute()
            }
        }
        #expect(bound == .invalidValue)
        let updated = await code { try await engine.commit("INSERT INTO t(v) VALUES (1); UPDATE t SET w = char(0)") }
        #expect(updated == .invalidValue)
        #expect(engine.committed == head)
        #expect(try await engine.integer("SELECT count(*) FROM t") == 0)
        // What a savepoint rolls back needn't be storable, and blobs may hold anything.
        try await engine.commit(
            "SAVEPOINT s; INSERT INTO t(v) VALUES (char(0)); ROLLBACK TO s; INSERT INTO t(v) VALUES (x'00')")
    }

    @Test("NaN is refused")
    func notANumber() async throws {
        let engine = try await open()
        let bound = await code {
            _ = try await engine.commit(CommitMetadata()) { writer, _ in
                let insert = try writer.statement("INSERT INTO t(v) VALUES (?)")
                try insert.writer.bind(Double.nan, at: 1)
                try insert.execute()
            }
        }
        #expect(bound == .invalidValue)
        #expect(try await engine.integer("SELECT count(*) FROM t") == 0)
    }

    @Test("Invalid UTF-8 is refused")
    func invalidUTF8() async throws {
        let engine = try await open()
        #expect(
            await code { try await engine.commit("INSERT INTO t(id, v) VALUES (1, CAST(x'61ff80' AS TEXT))") }
                == .invalidValue)
        try await engine.commit("INSERT INTO t(id, v) VALUES (1, 'a')")
        #expect(await code { try await engine.commit("UPDATE t SET v = CAST(x'61c3' AS TEXT)") } == .invalidValue)
        #expect(try await engine.integer("SELECT count(*) FROM t WHERE v = 'a'") == 1)
    }

    /// A value at the limit, and one that is a byte longer.
    static let largest = [
        ("zeroblob(\(Limits.valueBytes))", "zeroblob(\(Limits.valueBytes + 1))"),
        ("hex(zeroblob(\(Limits.valueBytes / 2)))", "hex(zeroblob(\(Limits.valueBytes / 2))) || 'x'"),
    ]

    @Test("The largest value is kept", arguments: largest)
    func largestValue(edge: String, larger: String) async throws {
        let engine = try await open()
        try await engine.commit("INSERT INTO t(id, v) VALUES (1, \(edge))")
        let size = try await engine.withWriter { writer, _ in
            guard let batch = try LogReader(writer.database).batch(containing: writer.head.position) else { return 0 }
            return batch.withView { view in
                let count = Int(view.shape(of: view.count - 1).column_count)
                return (0..<count).map { Int(view.columns(of: view.count - 1)[$0].size) }.max() ?? 0
            }
        }
        #expect(size == Limits.valueBytes)
        let head = engine.committed
        #expect(await code { try await engine.commit("UPDATE t SET v = \(larger)") } == .limitExceeded)
        #expect(await code { try await engine.commit("INSERT INTO t(v) VALUES (\(larger))") } == .limitExceeded)
        #expect(engine.committed == head)
    }

    @Test("Names at their limit")
    func namesAtTheirLimit() async throws {
        let engine = try await open()
        let edge = String(repeating: "n", count: Limits.nameBytes - 2) + "\u{E9}"
        func definition(_ table: String, _ column: String) -> EntityDefinition {
            EntityDefinition(
                name: table,
                columns: [
                    .init(ColumnSchema(name: "id", type: "TEXT", primaryKey: true)),
                    .init(ColumnSchema(name: column, type: "TEXT")),
                ])
        }
        func declare(_ definition: EntityDefinition) async -> StorageError.Code? {
            await code { _ = try await engine.commit(CommitMetadata()) { writer, _ in try writer.declare(definition) } }
        }
        #expect(await declare(definition(edge, edge)) == nil)
        try await engine.commit("INSERT INTO \"\(edge)\" VALUES ('1', 'v', 0)")
        #expect(await declare(definition("t2", edge + "n")) == .limitExceeded)
        #expect(await declare(definition(edge + "n", "c")) == .limitExceeded)
        #expect(await declare(definition("a\0", "c")) == .invalidName)
        #expect(await declare(definition("storage_x", "c")) == .invalidName)
        #expect(await declare(definition("SQLITE_x", "c")) == .invalidName)
        #expect(await declare(definition("", "c")) == .invalidName)
        #expect(await declare(definition("t2", "_Position")) == .invalidName)
        #expect(await declare(definition("t2", "ID")) == .invalidName)
    }

    /// GRDB hands NaN to SQLite, which keeps NULL: nothing of ours is asked. Written down in the documentation.
    @Test("NaN through GRDB is NULL")
    func notANumberThroughGRDB() async throws {
        let engine = try await open()
        _ = try await engine.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "INSERT INTO t(id, v) VALUES (1, ?)", arguments: [Double.nan])
        }
        #expect(try await engine.integer("SELECT v IS NULL FROM t") == 1)
    }

    /// Without memory for a value, SQLite would put NULL in its place.
    @Test("A value that can't be bound is an error")
    func unbindableValue() throws {
        let connection = try Connection(
            opening: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, orFailWith: "no memory")
        defer { connection.close() }
        try PreparedStatement(connection, "CREATE TABLE t(v)").execute()
        sqlite3_limit(connection.handle, SQLITE_LIMIT_LENGTH, 1_000)
        let insert = try PreparedStatement(connection, "INSERT INTO t VALUES (?)")
        insert.bind(blob: [UInt8](repeating: 1, count: 2_000), at: 1)
        #expect(throws: StorageError.self) { try insert.execute() }
        insert.bind(blob: [1], at: 1)
        try insert.execute()
        let count = try PreparedStatement(connection, "SELECT count(*), count(v) FROM t")
        #expect(try count.step())
        #expect(count.integer(0) == 1)
        #expect(count.integer(1) == 1)
    }

    /// Change capture counts the places in a key in a byte.
    @Test("Keys with too many columns are refused")
    func oversizedKeys() async throws {
        let engine = try TestStore.inMemory()
        func declare(_ count: Int) async -> StorageError.Code? {
            let columns = (0..<count).map { number in
                EntityDefinition.Column(ColumnSchema(name: "k\(number)", type: "TEXT", notNull: true, primaryKey: true))
            }
            let definition = EntityDefinition(name: "t\(count)", columns: columns)
            return await code {
                _ = try await engine.commit(CommitMetadata()) { writer, _ in try writer.declare(definition) }
            }
        }
        #expect(await declare(Limits.keyColumns) == nil)
        #expect(await declare(Limits.keyColumns + 1) == .limitExceeded)
    }
}
