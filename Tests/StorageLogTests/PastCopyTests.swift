import Foundation
import GRDB
import StorageCore
import StorageHistory
import StorageMaintenance
import TestSupport
import Testing

@testable import StorageLog

/// Large tables are copied whole from the store's file into its past.
@Suite struct PastCopyTests {
    private struct Table {
        let name: String
        let columns: String
        let options: String
        /// What a row holds, by its number `i`.
        let values: String
    }

    private static let tables = [
        Table(
            name: "texts", columns: "id TEXT PRIMARY KEY COLLATE NOCASE, n INT, t TEXT DEFAULT 'x'",
            options: "", values: "'k' || (i * 7919 % 10007), i, NULL"),
        Table(
            name: "numbers", columns: "id INTEGER PRIMARY KEY, n INT UNIQUE, b BLOB", options: "",
            values: "i * 3, i, CAST('b' || i AS BLOB)"),
        Table(
            name: "pairs", columns: "a INT, n INT, b TEXT, c, PRIMARY KEY (b, a DESC)", options: "",
            values: "i % 10, i, 'p' || i, CASE i % 3 WHEN 0 THEN i / 7.0 WHEN 1 THEN '' || i END"),
        Table(
            name: "strict", columns: "id TEXT NOT NULL PRIMARY KEY, n INT, a ANY", options: "STRICT",
            values: "'s' || i, i, '00' || i"),
    ]

    private func open(_ folder: TemporaryFolder) async throws -> StorageEngine {
        let engine = try StorageEngine.openStore(path: folder.path(), configuration: TestStore.configuration())
        for table in Self.tables {
            let key = table.columns.components(separatedBy: ", PRIMARY KEY (")
            let columns =
                "\(key[0]), _position INT NOT NULL DEFAULT 0" + key.dropFirst().map { ", PRIMARY KEY (\($0)" }.joined()
            try await engine.adopt(table.name, "CREATE TABLE \(table.name)(\(columns)) \(table.options)")
            try await engine.commit(
                """
                WITH RECURSIVE c(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM c WHERE i < 1600)
                INSERT INTO \(table.name) SELECT \(table.values), 0 FROM c
                """)
            // Rowids have gaps, as they have in the copy.
            try await engine.commit("DELETE FROM \(table.name) WHERE n % 4 = 1")
        }
        return engine
    }

    /// All values of a table, and its rowids.
    private static func rows(of table: Table, _ db: GRDB.Database) throws -> [String] {
        let columns = try String.fetchAll(
            db, sql: "SELECT name FROM pragma_table_info(?) WHERE name <> '_position'", arguments: [table.name])
        let values = columns.map { "quote(\($0))" }.joined(separator: " || ',' || ")
        return try String.fetchAll(
            db, sql: "SELECT rowid || ':' || \(values) FROM \(table.name) ORDER BY rowid")
    }

    private static func withoutRowid(_ row: String) -> Substring {
        row.firstIndex(of: ":").map { row[row.index(after: $0)...] } ?? row[...]
    }

    @Test("The past of a large table has its values and rowids", arguments: [SnapshotSchema.current, .asRecorded])
    func wholeTables(schema: SnapshotSchema) async throws {
        let folder = try TemporaryFolder()
        let engine = try await open(folder)
        let point = engine.committed.position
        let before = try await engine.read { db in try Self.tables.map { try Self.rows(of: $0, db) } }
        for table in Self.tables {
            try await engine.commit("UPDATE \(table.name) SET n = n + 100000 WHERE n % 5 = 0")
            try await engine.commit("INSERT INTO \(table.name) SELECT \(table.values), 0 FROM (SELECT 5000 AS i)")
        }
        let past = try await engine.read { db in
            let snapshot = try MaterializedSnapshot(at: point, of: db, schema: schema)
            return try snapshot.read(Self.tables.map(\.name), from: db) { past in
                try Self.tables.map { try Self.rows(of: $0, past) }
            }
        }
        for (index, table) in Self.tables.enumerated() {
            guard schema == .asRecorded else {
                #expect(past[index] == before[index], "\(table.name)")
                continue
            }
            // A table of its own making has rowids of its own.
            #expect(past[index].map(Self.withoutRowid).sorted() == before[index].map(Self.withoutRowid).sorted())
        }
        try await engine.close()
    }

    /// The file is attached after the read has begun, and commits come in between.
    @Test("A commit that the read doesn't see isn't in its past")
    func laterCommit() async throws {
        let folder = try TemporaryFolder()
        let engine = try await open(folder)
        let point = engine.committed.position
        let (before, past) = try await engine.read { db in
            let before = try Self.tables.map { try Self.rows(of: $0, db) }
            let isDone = DispatchSemaphore(value: 0)
            Task.detached {
                defer { isDone.signal() }
                for table in Self.tables { try await engine.commit("DELETE FROM \(table.name) WHERE n % 3 = 0") }
            }
            isDone.wait()
            let snapshot = try MaterializedSnapshot(at: point, of: db, schema: .current)
            let past = try snapshot.read(Self.tables.map(\.name), from: db) { past in
                try Self.tables.map { try Self.rows(of: $0, past) }
            }
            return (before, past)
        }
        // Rows are copied one by one, and get rowids of their own where nothing names them.
        for (index, table) in Self.tables.enumerated() {
            #expect(past[index].map(Self.withoutRowid) == before[index].map(Self.withoutRowid), "\(table.name)")
        }
        try await engine.close()
    }

    @Test("The past of many tables reads the catalog as often as that of one")
    func catalogReadings() async throws {
        let folder = try TemporaryFolder()
        let engine = try await open(folder)
        let head = engine.committed.position
        let readings = try await engine.read { db in
            try [Array(Self.tables.prefix(1)), Self.tables].map { tables in
                let snapshot = try MaterializedSnapshot(at: head, of: db, schema: .current)
                let readings = Counter()
                db.trace { if "\($0)".contains("storage_catalog") { readings.add() } }
                defer { db.trace(nil) }
                try snapshot.prepare(tables: tables.map(\.name), from: db)
                return readings.value
            }
        }
        #expect(readings == [1, 1])
    }
}
