import Foundation
import StorageKit
import StorageTesting
import Testing

/// P5: a table is the fold of the log; damage to it is found, and a rebuild mends it.
struct RebuildTests {
    private func makeStore() async throws -> TemporaryStore {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self, PersonRecord.self) }
        try await store.storage.write { tx in
            try tx.execute("CREATE INDEX notes_by_text ON notes(text)")
            try tx.execute(
                "CREATE TRIGGER notes_twice AFTER DELETE ON notes BEGIN INSERT INTO persons(id, name, score, updatedAt) VALUES (OLD.id, 'ghost', 1.5, 0); END"
            )
        }
        try await store.storage.save((0..<50).map { Note(id: $0, text: "note \($0)") })
        for number in 0..<20 { try await store.storage.save(Note(id: number, text: "changed \(number)")) }
        for number in 10..<15 { try await store.storage.delete(Note.self, id: number) }
        try await store.storage.save(Note(id: 12, text: "again"))
        return store
    }

    private func dump(_ storage: Storage) async throws -> [String] {
        try await storage.read { db in
            let tables = try String.fetchAll(
                db, sql: "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
            let notes = try String.fetchAll(
                db, sql: "SELECT quote(id) || quote(text) || quote(updatedAt) || _position FROM notes ORDER BY id")
            let people = try String.fetchAll(
                db, sql: "SELECT quote(id) || quote(name) || quote(score) || _position FROM persons ORDER BY id")
            let dead = try String.fetchAll(
                db, sql: "SELECT entity || hex(key) || position FROM storage_tombstone ORDER BY 1")
            return tables + notes + people + dead
        }
    }

    @Test func rebuildingTwiceGivesWhatWasThere() async throws {
        let store = try await makeStore()
        let before = try await dump(store.storage)
        for _ in 0..<2 {
            try await store.storage.rebuild()
            #expect(try await dump(store.storage) == before)
            let report = try await store.storage.verify()
            #expect(report.isSound, "\(report.findings)")
        }
        // Capture goes on with the new tables.
        try await store.storage.save(Note(id: 1, text: "after"))
        try await store.reopen()
        #expect(try await store.storage.verify().isSound)
        #expect(try await store.storage.history(Note.self, id: 1).count == 3)
    }

    @Test func damageToATableIsFoundAndMended() async throws {
        let store = try await makeStore()
        let before = try await dump(store.storage)
        try await store.storage.close()
        // A foreign program that knows nothing of the log.
        let foreign = try DatabaseQueue(path: store.url.path)
        try await foreign.write { db in
            try db.execute(sql: "UPDATE notes SET text = 'forged' WHERE id = 3")
            try db.execute(sql: "DROP TRIGGER notes_twice")
            try db.execute(sql: "DELETE FROM notes WHERE id = 4")
            #expect(throws: DatabaseError.self) { try db.execute(sql: "DELETE FROM storage_log") }
            #expect(throws: DatabaseError.self) { try db.execute(sql: "UPDATE storage_log SET last = 1") }
        }
        try foreign.close()
        var readOnly = StorageConfiguration()
        readOnly.isReadOnly = true
        let reader = try StorageKit.start(at: store.url, configuration: readOnly).facade
        let report = try await reader.verify()
        try await reader.close()
        let messages = report.findings.map(\.description)
        #expect(messages.contains { $0.contains("row 3 differs") })
        #expect(messages.contains { $0.contains("row 4 is missing") })
        #expect(messages.contains { $0.contains("trigger") })
        let storage = try StorageKit.start(at: store.url).facade
        try await storage.write { tx in
            try tx.execute(
                "CREATE TRIGGER notes_twice AFTER DELETE ON notes BEGIN INSERT INTO persons(id, name, score, updatedAt) VALUES (OLD.id, 'ghost', 1.5, 0); END"
            )
        }
        try await storage.rebuild()
        #expect(try await dump(storage) == before)
        #expect(try await storage.verify().isSound)
        try await storage.close()
    }
}
