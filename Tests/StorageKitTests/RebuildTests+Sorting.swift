import Foundation
import StorageKit
import StorageMaintenance
import Synchronization
import TestSupport
import Testing

/// Rebuilds that can't write the rows that they have sorted.
extension RebuildTests {
    private static func declare(_ schema: inout Schema, adding constraint: String? = nil) {
        schema.migration("tables") { db in
            try db.execute(
                sql: """
                    CREATE TABLE owners(id INTEGER PRIMARY KEY, name TEXT);
                    CREATE TABLE pets(id INTEGER PRIMARY KEY, owner INT REFERENCES owners(id), name TEXT);
                    CREATE TABLE tags(id INTEGER PRIMARY KEY, word TEXT);
                    """)
        }
        for table in ["owners", "pets", "tags"] { schema.adopt(table) }
        guard let constraint else { return }
        schema.migration("constraint") { db in
            try db.execute(
                sql: """
                    CREATE TABLE tags_new(id INTEGER PRIMARY KEY, word TEXT \(constraint));
                    INSERT INTO tags_new(id, word) SELECT id, word FROM tags;
                    DROP TABLE tags;
                    ALTER TABLE tags_new RENAME TO tags;
                    """)
        }
    }

    /// Commits in which rows of the tables have several versions, and each tag is there twice.
    private static func fill(_ storage: Storage) async throws {
        let numbers = "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 400)"
        try await storage.write { try $0.execute("INSERT INTO owners(id, name) VALUES (1, 'a'), (2, 'b'), (3, 'c')") }
        try await storage.write { try $0.execute("INSERT INTO pets(id, owner) \(numbers) SELECT i, 1 FROM n") }
        for version in 0..<4 {
            let values = "name = 'version \(version)', owner = 1 + (id + \(version)) % 3"
            try await storage.write { try $0.execute("UPDATE pets SET \(values)") }
        }
        try await storage.write { tx in
            try tx.execute("INSERT INTO tags(id, word) \(numbers) SELECT i, 'w' || (i % 200) FROM n")
        }
    }

    private static func contents(_ storage: Storage) async throws -> [String] {
        try await storage.read { db in
            try [
                "SELECT 'owner ' || id || quote(name) || _position FROM owners ORDER BY id",
                "SELECT 'pet ' || id || quote(owner) || quote(name) || _position FROM pets ORDER BY id",
                "SELECT 'tag ' || id || quote(word) || _position FROM tags ORDER BY id",
                "SELECT entity || hex(key) || position FROM storage_tombstone ORDER BY 1",
            ].flatMap { try String.fetchAll(db, sql: $0) }
        }
    }

    /// Rows that were written already would be in the way of the windows, also in a table that is rebuilt without its
    /// foreign key.
    @Test(
        "Sorted rows that break a later constraint make a rebuild start over with windows",
        arguments: ["UNIQUE", "CHECK (length(word) > 4)"])
    func sortedRowsBreakConstraint(constraint: String) async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path())
        var configuration = StorageConfig()
        configuration.segmentLength = 64
        let first = try StorageKit.start(at: url, config: configuration) { Self.declare(&$0) }.facade
        try await Self.fill(first)
        let end = first.head
        try await first.write { try $0.execute("UPDATE tags SET word = 'word ' || id") }
        try await first.close()
        let storage = try StorageKit.start(at: url, config: configuration) {
            Self.declare(&$0, adding: constraint)
        }.facade
        try await storage.write { tx in
            try tx.execute("DELETE FROM pets WHERE id % 5 = 0")
            try tx.execute("DELETE FROM tags WHERE id > 390")
        }
        let before = try await Self.contents(storage)
        var pace = Rebuild.Pace()
        (pace.memory, pace.mostSortedEvents) = (3_000, end)
        for sorts in [true, false] {
            pace.sorts = sorts
            let reached = Mutex<[Int64]>([])
            let report = try await Rebuild(storage.engine, pace: pace) { progress in
                if progress.phase == .reading { reached.withLock { $0.append(progress.completed) } }
            }.run()
            #expect(report.isSwapped)
            #expect(try await Self.contents(storage) == before, "sorts: \(sorts)")
            guard sorts else { continue }
            // Reading and sorting is the first half of the work, writing the second.
            let written = reached.withLock { $0 }.drop { $0 <= end / 2 }
            #expect(written.contains { $0 < end / 2 }, "\(Array(written))")
        }
        let verified = try await storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
        try await storage.close()
    }
}
