import Foundation
import GRDB
import SchemaTestSupport
import TestSupport
import Testing

@testable import StorageLog

/// A decoder in Python, written from `Format.md` by somebody who saw nothing else, reads what this library writes: event by event, value
/// by value.
@Suite struct SecondDecoderTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    private static let golden = folder.deletingLastPathComponent().appendingPathComponent("StorageKitTests/Golden")
    private static let isRecording = ProcessInfo.processInfo.environment["RECORD_GOLDEN"] != nil

    private func canonical(_ path: String) throws -> String {
        try DatabaseFile(path, .unchanging).with { try CanonicalBytes.lines($0).joined(separator: "\n") + "\n" }
    }

    @Test("Golden stores are read alike", arguments: ["format-4", "format-4-sealed", "format-4-shapes"])
    func goldenStores(name: String) throws {
        let store = Self.golden.appendingPathComponent("\(name).store").path
        let vectors = Self.golden.appendingPathComponent("\(name).canonical.txt")
        if Self.isRecording { try Data(try canonical(store).utf8).write(to: vectors) }
        let expected = String(decoding: try Data(contentsOf: vectors), as: UTF8.self)
        #expect(try canonical(store) == expected)
        let decoded = try SecondDecoder.decode(store)
        #expect(decoded.output == expected, "\(decoded.error)")
        #expect(decoded.error.isEmpty, "\(decoded.error)")
    }

    /// Tables with keys of several parts, collations and triggers, rows that come and go, and values of every kind.
    @Test("Random stores are read alike", arguments: TestSettings.seeds(2, from: 70))
    func randomStores(seed: UInt64) async throws {
        let folder = try TemporaryFolder()
        var generator = HostileStatements(seed: seed)
        let length = generator.random.pick([3, 16, 64])
        let engine = try StorageEngine.open(
            path: folder.path(), configuration: TestStore.configuration(segmentLength: length))
        _ = try await engine.commit(CommitMetadata(actor: "anna")) { writer, db in
            for table in HostileTables.all { try writer.adopt(db, table.name, table.sql) }
            try db.execute(sql: HostileTables.triggers)
            let sql = "CREATE TABLE large(id INTEGER PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)"
            try writer.adopt(db, "large", sql)
        }
        for round in 0..<60 {
            // A row of the log that stays as it is, between those that are sealed.
            if round == 30 { try await engine.commit("INSERT INTO large(v) VALUES (randomblob(1200000))") }
            let statements = generator.commit()
            // What the schema refuses isn't in the log.
            _ = try? await engine.commit(CommitMetadata(reason: statements.first)) { _, db in
                for statement in statements { try? db.execute(sql: statement) }
            }
            if generator.random.chance(10) { try await engine.seal() }
        }
        try await engine.seal()
        let head = engine.committed.position
        let between = try await engine.integer(
            "SELECT count(*) FROM storage_log WHERE sealed = 0 AND position < (SELECT max(position) FROM storage_log WHERE sealed)"
        )
        #expect(between == 1, "seed \(seed)")
        try await engine.close(leavingNoLog: true)
        let decoded = try SecondDecoder.decode(folder.path())
        #expect(decoded.error.isEmpty, "seed \(seed): \(decoded.error)")
        let expected = try canonical(folder.path())
        #expect(decoded.output == expected, "seed \(seed)")
        #expect(decoded.output.split(separator: "\n").count { $0.hasPrefix("event ") } == Int(head))
    }

    /// It would not agree with whatever it is given.
    @Test(
        "Damage is refused",
        arguments: [
            ("UPDATE storage_log SET digest = zeroblob(32) WHERE position = 17", "digest"),
            ("UPDATE storage_log SET base = 0 WHERE base > 0", "frame"),
            ("UPDATE storage_log SET first_time = first_time + 1", "times"),
            ("UPDATE storage_meta SET incompatible = 1", "features"),
            ("DELETE FROM storage_log WHERE position = 17", "digest"),
        ])
    func damage(sql: String, reason: String) throws {
        let folder = try TemporaryFolder()
        try FileManager.default.copyItem(
            at: Self.golden.appendingPathComponent("format-4-sealed.store"), to: URL(fileURLWithPath: folder.path()))
        try DatabaseFile(folder.path(), .owning).with { database in
            for sql in ["DROP TRIGGER storage_log_update", "DROP TRIGGER storage_log_delete", sql] {
                try PreparedStatement(database, sql).execute()
            }
        }
        let refused = try SecondDecoder.decode(folder.path())
        #expect(refused.output.isEmpty, "\(refused.error)")
        #expect(refused.error.contains(reason), "\(refused.error)")
    }
}
