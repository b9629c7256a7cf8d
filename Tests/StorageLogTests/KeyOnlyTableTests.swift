import StorageCore
import Testing

@testable import StorageLog

/// Tables that are all key, as those that join others are.
@Suite struct KeyOnlyTableTests {
    @Test("Events of tables with only keys are read back", arguments: TestSettings.segmentLengths)
    func longKeys(length: Int) async throws {
        let engine = try TestStore.inMemory(segmentLength: length)
        try await engine.adopt(
            "member",
            "CREATE TABLE member(a, b, c, _position INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (a, b, c))")
        _ = try await engine.commit("INSERT INTO member(a, b, c) VALUES (1, 2, 3), (1, 2, 4), (1, 'x', x'00')")
        _ = try await engine.commit("DELETE FROM member WHERE c = 3")
        try await engine.seal()
        let keys = try await engine.withWriter { writer, _ in
            try LogReader(writer.database).events().filter { $0.entity != CatalogEntity.catalog.id }.map(\.key.count)
        }
        #expect(keys == [3, 3, 3, 3])
    }

    @Test("Rows may change before their table is dropped")
    func changesBeforeDrop() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt("t", "CREATE TABLE t(k PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        _ = try await engine.commit("INSERT INTO t(k, v) VALUES (1, 2)")
        _ = try await engine.commit("UPDATE t SET v = 3; DROP TABLE t")
        #expect(try await engine.withWriter { writer, _ in writer.catalog.live.isEmpty })
    }

    @Test("A column that was just added keeps its values when it is renamed")
    func renamingAddedColumn() async throws {
        let engine = try TestStore.inMemory()
        try await engine.adopt("t", "CREATE TABLE t(k PRIMARY KEY, v, _position INTEGER NOT NULL DEFAULT 0)")
        _ = try await engine.commit("ALTER TABLE t ADD COLUMN w")
        _ = try await engine.commit("INSERT INTO t(k, v, w) VALUES (1, 2, 3)")
        _ = try await engine.commit("ALTER TABLE t RENAME COLUMN w TO x")
        let columns = try await engine.withWriter { writer, _ in
            try #require(writer.catalog.entity(named: "t")).columns.map { ($0.name, $0.isDropped) }
        }
        #expect(columns.map(\.0) == ["k", "v", "x"])
        #expect(columns.allSatisfy { !$0.1 })
    }
}
