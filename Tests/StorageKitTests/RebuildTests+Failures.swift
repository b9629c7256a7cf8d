import EntityTestSupport
import Foundation
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// Rebuilds that can't end, and what they leave in the file.
extension RebuildTests {
    private func tables(_ store: TemporaryStore) async throws -> [String] {
        try await store.storage.read { try String.fetchAll($0, sql: "SELECT name FROM sqlite_schema ORDER BY name") }
    }

    /// A store with a table whose CHECK calls a function that isn't registered, as in the tool.
    ///
    /// - Parameter column: The definition of another column.
    private func makeStore(column: String) async throws -> TemporaryStore {
        let store = try TemporaryStore { schema in
            schema.migration("words") { db in
                db.add(function: DatabaseFunction("initials", argumentCount: 1, pure: true) { $0[0] })
                try db.execute(
                    sql: "CREATE TABLE words(id INTEGER PRIMARY KEY, word, \(column), CHECK (initials(word) <> ''))")
            }
            schema.adopt("words")
        }
        try await store.storage.write { try $0.execute("INSERT INTO words(id, word) VALUES (1, 'one')") }
        try await store.reopen()
        return store
    }

    @Test("A rebuild ends before it reads the log if the new table can't be created")
    func unregisteredFunction() async throws {
        let store = try await makeStore(column: "other INTEGER")
        let before = try await tables(store)
        let steps = Counter()
        let error = await #expect(throws: StorageError.self) {
            try await Rebuild(store.storage.engine, ["words"]) { _ in steps.add() }.run()
        }
        #expect(error?.message.contains("no such function: initials") == true)
        #expect(steps.value == 0)
        #expect(try await tables(store) == before)
    }

    /// The new table of one with a foreign key is filled without constraints first.
    @Test("A rebuild that fails at the end leaves the table, and no new one")
    func failureAtTheEnd() async throws {
        let store = try await makeStore(column: "other INTEGER REFERENCES words(id)")
        let before = try await tables(store)
        let error = await #expect(throws: StorageError.self) {
            try await Rebuild(store.storage.engine, ["words"]).run()
        }
        #expect(error?.message.contains("no such function: initials") == true)
        #expect(try await tables(store) == before)
        #expect(try await store.storage.read { try String.fetchAll($0, sql: "SELECT word FROM words") } == ["one"])
    }

    @Test("A column that is lost before the tables are compared leaves no new table", arguments: [false, true])
    func columnLostBeforeComparison(swaps: Bool) async throws {
        let store = try await makeStore()
        let before = try await tables(store)
        let foreign = try store.otherProgram()
        let comparisons = Counter()
        let options = RebuildOptions(compares: true, swaps: swaps)
        let error = await #expect(throws: StorageError.self) {
            try await Rebuild(store.storage.engine, ["notes"], options: options) { progress in
                guard progress.phase == .comparing, comparisons.add() == 1 else { return }
                do {
                    try foreign.write { try $0.execute(sql: "ALTER TABLE notes DROP COLUMN updatedAt") }
                } catch {
                    Issue.record(error)
                }
            }.run()
        }
        try foreign.close()
        #expect(error?.code == .corrupt)
        #expect(comparisons.value == 1)
        #expect(try await tables(store) == before)
    }
}
