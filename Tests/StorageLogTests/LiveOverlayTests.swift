import Foundation
import GRDB
import StorageCore
import StorageMaintenance
import TestSupport
import Testing

@testable import StorageHistory
@testable import StorageLog

/// Large tables are read as they were shortly before the end of the log, without a copy.
@Suite struct LiveOverlayTests {
    private static let tables = [
        LargeTable(
            name: "texts", columns: "id TEXT PRIMARY KEY COLLATE NOCASE, n INT, t TEXT DEFAULT 'x'",
            values: "'k' || (i * 7919 % 10007), i, NULL", rename: "id = upper(id)"),
        LargeTable(
            name: "numbers", columns: "id INTEGER PRIMARY KEY, n INT UNIQUE, b BLOB", filled: "id, n, b",
            values: "i * 3, i, CAST('b' || i AS BLOB)", rename: "id = id + 1"),
        LargeTable(
            name: "hiding", columns: "rowid TEXT PRIMARY KEY, n INT, oid", filled: "rowid, n, oid",
            values: "'r' || i, i, i / 2.0", rename: "rowid = rowid || 'x'"),
        LargeTable(
            name: "strict", columns: "id TEXT NOT NULL PRIMARY KEY, n INT, a ANY", options: "STRICT",
            filled: "id, n, a", values: "'s' || i, i, '00' || i", rename: "id = id || 'x'"),
    ]

    private static func open(_ folder: TemporaryFolder) async throws -> StorageEngine {
        try await LargeTable.open(folder, tables, rows: 9_500)
    }

    /// Changes a few rows of a table in a commit: also ones that were deleted, or given another key, in an earlier one.
    private static func change(_ table: LargeTable, _ random: inout SplitMix64, in engine: StorageEngine) async throws {
        let first = 1 + random.below(30)
        let range = "n BETWEEN \(first) AND \(first + 3)"
        switch random.below(7) {
        case 0: try await engine.commit("DELETE FROM \(table.name) WHERE \(range)")
        case 1: try await engine.commit(table.insertion(first...first))
        case 2: try await engine.commit("UPDATE OR IGNORE \(table.name) SET n = n + 100000 WHERE \(range)")
        case 3: try await engine.commit("UPDATE OR IGNORE \(table.name) SET \(table.rename) WHERE \(range)")
        case 4: try await engine.commit(table.restoration(of: first))
        case 5: try await engine.commit(table.insertion(first...first + 2, or: "REPLACE"))
        default:
            try await engine.commit("UPDATE OR IGNORE \(table.name) SET n = n - 100000 WHERE n > 100000 AND n % 3 = 0")
        }
    }

    /// All rows, in the order of their values, and the answers of some queries.
    private static func dump(_ table: LargeTable, _ db: GRDB.Database) throws -> [String] {
        let rows = try table.rows(in: db)
        let counts = try Int.fetchAll(
            db,
            sql: """
                SELECT count(*) FROM \(table.name) UNION ALL SELECT sum(n) FROM \(table.name) WHERE n > 7 \
                UNION ALL SELECT n FROM \(table.name) WHERE n = 12
                """)
        let first = try Int.fetchAll(db, sql: "SELECT n FROM \(table.name) ORDER BY n LIMIT 9 OFFSET 2")
        return rows + (counts + first).map(String.init)
    }

    /// What a view shows, and what a copy has.
    private static func answers(
        of table: LargeTable, at point: Int64, in db: GRDB.Database
    ) throws -> (seen: [String], copied: [String]) {
        let seen = try MaterializedSnapshot(at: point, of: db, schema: .current)
            .readRows(of: table.name, from: db) { past in
                #expect(try isView(table, past))
                return try dump(table, past)
            }
        let copied = try MaterializedSnapshot(at: point, of: db, schema: .current)
            .read([table.name], from: db) { try dump(table, $0) }
        return (seen, copied)
    }

    private static func isView(_ table: LargeTable, _ db: GRDB.Database) throws -> Bool {
        try String.fetchOne(db, sql: "SELECT type FROM sqlite_temp_schema WHERE name = ?", arguments: [table.name])
            == "view"
    }

    @Test("A view over the live table has the rows of a copy", arguments: testSeeds(2))
    func agreesWithCopies(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        let engine = try await Self.open(folder)
        var tables = Self.tables
        var random = SplitMix64(seed: seed)
        var points = [engine.committed.position]
        for round in 0..<40 {
            try await Self.change(tables[random.below(tables.count)], &random, in: engine)
            points.append(engine.committed.position)
            guard round == 20 else { continue }
            for index in tables.indices {
                try await engine.commit(tables[index].renaming(to: tables[index].name + "_renamed"))
            }
        }
        for point in [points[0], points[random.below(points.count)], points[39], points[40]] {
            for table in tables {
                let (seen, copied) = try await engine.read { db in try Self.answers(of: table, at: point, in: db) }
                #expect(seen == copied, "seed \(seed), \(table.name) @\(point)")
            }
        }
        try await engine.close()
    }

    /// The file is attached after the read has begun, and commits come in between.
    @Test("Commits that come during the read are undone, too")
    func laterCommits() async throws {
        let folder = try TemporaryFolder()
        let tables = Self.tables
        let engine = try await Self.open(folder)
        let point = engine.committed.position
        let (before, past) = try await engine.read { db in
            let before = try tables.map { try Self.dump($0, db) }
            let isDone = DispatchSemaphore(value: 0)
            Task.detached {
                defer { isDone.signal() }
                for table in tables { try await engine.commit("DELETE FROM \(table.name) WHERE n % 50 = 0") }
            }
            isDone.wait()
            let past = try tables.map { table in
                try MaterializedSnapshot(at: point, of: db, schema: .current).readRows(of: table.name, from: db) {
                    past in
                    #expect(try Self.isView(table, past))
                    return try Self.dump(table, past)
                }
            }
            return (before, past)
        }
        #expect(past == before)
        try await engine.close()
    }

    @Test("What another program changed is shown as in a copy")
    func foreignChanges() async throws {
        let folder = try TemporaryFolder()
        let tables = Self.tables
        let engine = try await Self.open(folder)
        let point = engine.committed.position
        for table in tables { try await engine.commit("UPDATE \(table.name) SET n = n + 100000 WHERE n < 10") }
        let foreign = try DatabaseQueue.foreign(path: folder.path())
        try await foreign.write { db in
            for table in tables {
                try db.execute(sql: "UPDATE \(table.name) SET n = n + 200000 WHERE n IN (12, 100003)")
                try db.execute(sql: "DELETE FROM \(table.name) WHERE n IN (14, 100004)")
                try db.execute(sql: table.insertion(9_800...9_800))
            }
        }
        try await foreign.vacuum()
        try foreign.close()
        // The events tell nothing of a row that was deleted and inserted again.
        for table in tables { try await engine.commit(table.insertion(14...14)) }
        for table in tables {
            let (seen, copied) = try await engine.read { db in
                let snapshot = try MaterializedSnapshot(at: point, of: db, schema: .current)
                let seen = try snapshot.readRows(of: table.name, from: db) { try Self.dump(table, $0) }
                return (seen, try snapshot.read([table.name], from: db) { try Self.dump(table, $0) })
            }
            #expect(seen == copied, "\(table.name)")
        }
        try await engine.close()
    }

    @Test("A table that is read often is copied")
    func manyReads() async throws {
        let folder = try TemporaryFolder()
        let engine = try await Self.open(folder)
        let isCopied = try await engine.read { db in
            let snapshot = try MaterializedSnapshot(at: engine.committed.position, of: db, schema: .current)
            let kinds = try (0..<1_000).map { _ in
                try snapshot.readRows(of: "texts", from: db) { try Self.isView(Self.tables[0], $0) }
            }
            #expect(kinds[0])
            return kinds.contains(false)
        }
        #expect(isCopied)
        try await engine.close()
    }

    /// SQLite would find the live table by its name.
    @Test("No other table of the store is read")
    func otherTables() async throws {
        let folder = try TemporaryFolder()
        let engine = try await Self.open(folder)
        let foreign = try DatabaseQueue.foreign(path: folder.path())
        try await foreign.write { db in
            try db.execute(
                sql: "CREATE VIEW doubled AS SELECT n * 2 FROM numbers; CREATE VIRTUAL TABLE words USING fts5(word)")
        }
        // Virtual tables come last in the schema then.
        try await foreign.vacuum()
        try foreign.close()
        try await engine.read { db in
            let snapshot = try MaterializedSnapshot(at: engine.committed.position, of: db, schema: .current)
            for name in ["numbers", "doubled", "STRICT", "words", "words_data"] {
                let error = #expect(throws: DatabaseError.self) {
                    try snapshot.readRows(of: "texts", from: db) { try Row.fetchOne($0, sql: "SELECT * FROM \(name)") }
                }
                #expect(error?.message?.contains("no such table") == true)
            }
        }
        try await engine.close()
    }

    /// The rows that have changed are in a table of that database.
    @Test("SQL that names the main database doesn't read a part of the table")
    func mainDatabase() async throws {
        let folder = try TemporaryFolder()
        let engine = try await Self.open(folder)
        let point = engine.committed.position
        try await engine.commit("UPDATE texts SET n = n + 100000 WHERE n < 4")
        try await engine.read { db in
            let snapshot = try MaterializedSnapshot(at: point, of: db, schema: .current)
            let error = #expect(throws: DatabaseError.self) {
                try snapshot.readRows(of: "texts", from: db) { past in
                    #expect(try Self.isView(Self.tables[0], past))
                    return try Int.fetchOne(past, sql: "SELECT count(*) FROM main.texts")
                }
            }
            #expect(error?.message?.contains("no such table") == true)
        }
        try await engine.close()
    }

    /// The table of the rows that have changed has another name.
    @Test("A table whose CHECK contains its name is read without a copy")
    func checkWithNameOfTable() async throws {
        let folder = try TemporaryFolder()
        let table = LargeTable(
            name: "spans", columns: "id INTEGER PRIMARY KEY, n INT CHECK (spans.n > 0 AND \"spans\".id > 0), t",
            values: "i, i, NULL", rename: "id = id + 1")
        let engine = try await LargeTable.open(folder, [table], rows: 9_500)
        let point = engine.committed.position
        try await engine.commit("UPDATE spans SET t = 'changed' WHERE n < 4")
        try await engine.commit("DELETE FROM spans WHERE n = 5")
        let (seen, copied) = try await engine.read { db in try Self.answers(of: table, at: point, in: db) }
        #expect(seen == copied)
        try await engine.close()
    }
}
