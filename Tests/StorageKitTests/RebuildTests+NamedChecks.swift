import EntityTestSupport
import Foundation
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// Tables whose CHECK contains their name, which are created only once the old ones are dropped.
extension RebuildTests {
    private func makeSpans(key: String) throws -> TemporaryStore {
        try TemporaryStore { schema in
            schema.migration("spans") { db in
                try db.execute(sql: "CREATE TABLE spans(id \(key), low, high, CHECK (spans.low < spans.high))")
            }
            schema.adopt("spans")
        }
    }

    private func rows(_ storage: Storage, of table: String = "spans") async throws -> [String] {
        try await storage.read { db in
            try String.fetchAll(db, sql: "SELECT id || ' ' || high FROM \(table) ORDER BY id")
        }
    }

    @Test("A rebuilt table whose CHECK contains its name gives no number to two rows", arguments: [false, true])
    func namedCheckWithAutoincrement(keepsOld: Bool) async throws {
        let store = try makeSpans(key: "INTEGER PRIMARY KEY AUTOINCREMENT")
        try await store.storage.write { try $0.execute("INSERT INTO spans(low, high) VALUES (1, 2), (1, 3), (1, 4)") }
        try await store.storage.write { try $0.execute("DELETE FROM spans WHERE id > 1") }
        try await store.storage.rebuild(options: RebuildOptions(keepsOld: keepsOld))
        try await store.storage.write { try $0.execute("INSERT INTO spans(low, high) VALUES (1, 5)") }
        #expect(try await rows(store.storage) == ["1 2", "4 5"])
        let verified = try await store.storage.verify()
        #expect(verified.isSound, "\(verified.findings)")
    }

    @Test("The old table of one whose CHECK contains its name is kept on request")
    func namedCheckOfKeptTable() async throws {
        let store = try makeSpans(key: "INTEGER PRIMARY KEY")
        try await store.storage.write { try $0.execute("INSERT INTO spans(id, low, high) VALUES (1, 1, 2)") }
        let foreign = try store.otherProgram()
        try await foreign.write { try $0.execute(sql: "UPDATE spans SET high = 9") }
        try foreign.close()
        let report = try await store.storage.rebuild("spans", options: RebuildOptions(keepsOld: true))
        #expect(try await rows(store.storage, of: #require(report.kept["spans"])) == ["1 9"])
        #expect(try await rows(store.storage) == ["1 2"])
    }
}
