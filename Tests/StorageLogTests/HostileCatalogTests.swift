import GRDB
import StorageCore
import TestSupport
import Testing

@testable import StorageLog

/// A catalog that no engine has written is an error of every opening: what is computed and filled by its numbers isn't checked
/// again, in C least of all.
struct HostileCatalogTests {
    private func store(_ folder: TemporaryFolder) async throws -> String {
        let path = folder.path()
        let engine = try StorageEngine.open(path: path, configuration: TestStore.configuration())
        try await engine.adopt(
            "pairs",
            "CREATE TABLE pairs(a TEXT NOT NULL, b INTEGER NOT NULL, c, _position INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (a, b))"
        )
        try await engine.commit("INSERT INTO pairs(a, b, c) VALUES ('x', 1, 'y')")
        try await engine.close()
        return path
    }

    @Test(
        "Numbers that make no sense are refused",
        arguments: [
            "key_place = 100 WHERE name = 'c'", "key_place = 5 WHERE name = 'c'", "key_place = -1 WHERE name = 'c'",
            "key_place = 256 WHERE name = 'c'", "key_place = 257 WHERE name = 'c'",
            "key_place = 100000 WHERE name = 'c'",
            "key_place = 2147483647 WHERE name = 'c'", "key_place = 2 WHERE name = 'c'",
            "key_place = 0 WHERE name = 'a'",
            "key_place = 0", "key_place = 'first' WHERE name = 'a'", "dropped = 2 WHERE name = 'c'",
            "required = -1 WHERE name = 'c'", "origin = -5 WHERE name = 'c'",
            "origin = 9223372036854775807 WHERE name = 'c'",
            "entity = 7777 WHERE name = 'c'", "entity = -1 WHERE name = 'c'", "id = 4294967295 WHERE name = 'c'",
            "id = 9223372036854775807 WHERE name = 'c'", "id = -1 WHERE name = 'c'", "id = 3 WHERE name = 'c'",
        ])
    func senselessCatalogNumbers(_ change: String) async throws {
        let folder = try TemporaryFolder()
        let path = try await store(folder)
        let queue = try DatabaseQueue(path: path)
        try await queue.write { try $0.execute(sql: "UPDATE storage_catalog SET \(change)") }
        try queue.close()
        #expect(await code { try StorageEngine.open(path: path, configuration: TestStore.configuration()) } == .corrupt)
        let reader = try DatabaseQueue(path: path)
        #expect(
            await code {
                try await reader.read { db in
                    _ = try Catalog.load(db.connection)
                }
            } == .corrupt)
    }

    @Test("The catalog of an engine is accepted")
    func soundCatalog() async throws {
        let folder = try TemporaryFolder()
        let path = try await store(folder)
        let engine = try StorageEngine.open(path: path, configuration: TestStore.configuration())
        try await engine.commit(
            "ALTER TABLE pairs DROP COLUMN c; ALTER TABLE pairs ADD COLUMN d DEFAULT 7; DELETE FROM pairs")
        try await engine.commit("DROP TABLE pairs")
        try await engine.close()
        let again = try StorageEngine.open(path: path, configuration: TestStore.configuration())
        try await again.withWriter { writer, _ in
            for position in 0...writer.head.position { _ = try Catalog.load(writer.database, at: position) }
        }
        try await again.close()
    }
}
