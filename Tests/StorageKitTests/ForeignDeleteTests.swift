import EntityTestSupport
import Foundation
import GRDB
import SchemaTestSupport
import StorageKit
import StorageMaintenance
import StorageTesting
import TestSupport
import Testing

/// A row that another program has deleted, of which the log doesn't know, and that is saved again: its insert replaces the row in
/// every reading of the log.
@Suite struct ForeignDeleteTests {
    /// - Returns: The store, and the position before the row was saved again.
    private func makeStore(
        config: StorageConfig? = nil, _ changes: (Storage) async throws -> Void = { _ in }
    ) async throws -> (TemporaryStore, Int64) {
        let store = try TemporaryStore(config: config) { $0.autoSchema(NoteRecord.self) }
        try await store.storage.save((1...3).map { Note(id: $0, text: "note \($0)") })
        try await store.storage.save(Note(id: 1, text: "changed"))
        let before = store.storage.head
        try delete(in: store)
        try await store.storage.save(Note(id: 1, text: "again"))
        try await changes(store.storage)
        return (store, before)
    }

    private func delete(in store: TemporaryStore) throws {
        let foreign = try store.otherProgram()
        try foreign.write { try $0.execute(sql: "DELETE FROM notes WHERE id = 1") }
        try foreign.close()
    }

    private func texts(_ storage: Storage, at position: Int64? = nil) async throws -> [String] {
        let sql = "SELECT text FROM notes ORDER BY id"
        guard let position else { return try await storage.read { try String.fetchAll($0, sql: sql) } }
        return try await storage.asOf(.position(position)).read { try String.fetchAll($0, sql: sql) }
    }

    @Test("It is verified with a warning, and backed up")
    func warning() async throws {
        let (store, before) = try await makeStore()
        let report = try await store.storage.verify()
        #expect(report.findings == [])
        let warning = try #require(report.warnings.first)
        #expect(report.warnings.count == 1)
        #expect(warning.position == before + 1)
        #expect(warning.table == "notes")
        #expect(warning.message.contains("another program had deleted it"))
        let folder = try TemporaryFolder()
        let backup = try await store.storage.backup(to: URL(fileURLWithPath: folder.path("backup.sqlite")))
        #expect(backup.isVerified)
    }

    @Test("A value that another program has changed is verified with a warning, and backed up")
    func changedValue() async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        try await store.storage.save((1...3).map { Note(id: $0, text: "note \($0)") })
        let foreign = try store.otherProgram()
        try await foreign.write { try $0.execute(sql: "UPDATE notes SET text = 'foreign' WHERE id < 3") }
        try foreign.close()
        // Until it is written to, the table differs from the log.
        #expect(try await !store.storage.verify().isSound)
        try await store.storage.save(Note(id: 1, text: "changed"))
        try await store.storage.delete(Note.self, id: 2)
        let report = try await store.storage.verify()
        #expect(report.findings == [])
        #expect(report.warnings.map(\.position) == [store.storage.head - 1, store.storage.head])
        #expect(report.warnings.allSatisfy { $0.table == "notes" && $0.message.contains("\"text\"") })
        let folder = try TemporaryFolder()
        let backup = try await store.storage.backup(to: URL(fileURLWithPath: folder.path("backup.sqlite")))
        #expect(backup.isVerified)
    }

    @Test("It is rebuilt, read as of any point, and opened again")
    func everyReading() async throws {
        let (store, before) = try await makeStore { storage in
            try await storage.save(Note(id: 2, text: "changed"))
            try await storage.save(Note(id: 1, text: "at last"))
        }
        let now = ["at last", "changed", "note 3"]
        // Its last change is undone only where the log's beginning is read.
        #expect(try await texts(store.storage, at: before - 1) == ["note 1", "note 2", "note 3"])
        #expect(try await texts(store.storage, at: before + 1) == ["again", "note 2", "note 3"])
        #expect(try await texts(store.storage, at: before + 2) == ["again", "changed", "note 3"])
        let versions = try await store.storage.history(Note.self, id: 1)
        #expect(try versions.map { try $0.entity?.text } == ["again", "at last"])
        let report = try await store.storage.rebuild(options: RebuildOptions(compares: true))
        #expect(report.differences == [])
        #expect(try await texts(store.storage) == now)
        try await store.reopen()
        #expect(try await texts(store.storage) == now)
        try await store.storage.save(Note(id: 1, text: "after"))
        #expect(try await store.storage.verify().isSound)
    }

    @Test("A table that another program drops comes back with it")
    func droppedTable() async throws {
        let (store, _) = try await makeStore()
        try await store.storage.close()
        let foreign = try store.otherProgram()
        try await foreign.write { try $0.execute(sql: "DROP TABLE notes") }
        try foreign.close()
        try await store.reopen()
        #expect(try await texts(store.storage) == ["again", "note 2", "note 3"])
        #expect(try await store.storage.verify().isSound)
    }

    /// Gives the row its state of a position, and changes it.
    private func restore(in store: TemporaryStore, at position: Int64) async throws {
        let foreign = try store.otherProgram()
        try await foreign.write {
            try $0.execute(sql: "UPDATE notes SET text = 'changed', _position = ? WHERE id = 1", arguments: [position])
        }
        try foreign.close()
        try await store.storage.save(Note(id: 1, text: "at last"))
    }

    /// The change after that points back to the event before the row was deleted.
    @Test("If its earlier state was restored, too, windows make what the events make one by one")
    func restoredState() async throws {
        let (store, before) = try await makeStore()
        try await restore(in: store, at: before)
        for (collects, sorts) in [(false, false), (true, false), (true, true)] {
            var pace = Rebuild.Pace()
            (pace.collects, pace.sorts) = (collects, sorts)
            _ = try await Rebuild(store.storage.engine, pace: pace).run()
            #expect(try await texts(store.storage) == ["at last", "note 2", "note 3"], "\(collects), \(sorts)")
        }
    }

    /// One by one, those of a segment are a step here; a window has those of many.
    @Test("If its earlier state was restored, too, the events after that are still applied in windows")
    func windowsAfterRestoredState() async throws {
        var config = StorageConfig()
        config.segmentLength = 64
        let (store, before) = try await makeStore(config: config)
        try await restore(in: store, at: before)
        for round in 0..<40 {
            try await store.storage.save((100..<150).map { Note(id: $0, text: "round \(round)") })
        }
        var pace = Rebuild.Pace()
        (pace.step, pace.sorts) = (.zero, false)
        var steps: [Int] = []
        for collects in [true, false] {
            pace.collects = collects
            let count = Counter()
            _ = try await Rebuild(store.storage.engine, ["notes"], pace: pace) { _ in count.add() }.run()
            steps.append(count.value)
        }
        #expect(steps[0] * 2 < steps[1], "\(steps)")
    }

    /// The second time the row is deleted by StorageKit, in the same range of the log.
    @Test("Folded ranges of any size equal the tables", arguments: [1, 20_000, 3 << 20])
    func foldedRanges(memory: Int) async throws {
        let (store, _) = try await makeStore { storage in
            try await storage.save((10..<40).map { Note(id: $0, text: "note \($0)") })
            try await storage.delete(Note.self, id: 1)
            try await storage.save(Note(id: 1, text: "third"))
        }
        try delete(in: store)
        try await store.storage.save(Note(id: 1, text: "fourth"))
        try delete(in: store)
        try await store.storage.save(Note(id: 1, text: "fifth"))
        try await store.storage.delete(Note.self, id: 1)
        let before = try await texts(store.storage)
        for (seeks, sorts) in [(false, false), (true, false), (true, true)] {
            var pace = Rebuild.Pace()
            (pace.memory, pace.seeksNeeded, pace.sorts) = (memory, seeks, sorts)
            _ = try await Rebuild(store.storage.engine, pace: pace).run()
            #expect(try await texts(store.storage) == before)
            let report = try await store.storage.verify()
            #expect(report.isSound, "\(report)")
            #expect(report.warnings.count == 3)
        }
    }
}
