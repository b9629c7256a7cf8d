import EntityTestSupport
import Foundation
import GRDB
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// Plans, conversions, and whose tables are whose.
extension ProjectionTests {
    @Test("A plan lists what becomes of projections")
    func planListsProjections() async throws {
        let store = try store([Tally("one"), Tally("two")], mode: .async)
        try await store.storage.close()
        let plan = { (declare: (inout Schema) -> Void) in try StorageKit.plan(at: store.url, declare).description }
        #expect(
            try plan {
                $0.autoSchema(NoteRecord.self, PersonRecord.self)
                $0.addProjection(Tally("one", version: 2), mode: .async)
                $0.dropProjection("two")
                $0.addProjection(Tally("three"))
            } == """
                no projection two
                  drop table "two"
                  drop projection two
                projection one
                  recreate projection one (async, version 2), which has version 1
                projection three
                  make projection three (inline, version 1)
                """)
        #expect(
            try plan {
                $0.addProjection(Tally("one"))
                $0.addProjection(Tally("two", entities: ["persons"]), mode: .async)
            } == """
                projection one
                  keep projection one (inline, version 1), which was async
                projection two
                  recreate projection two (async, version 1), which reads other entities
                """)
        try await store.reopen()
        #expect(try await store.storage.projections.status().map(\.name) == ["one", "two"])
        // An open store has the projections that it was opened with.
        try await store.storage.close()
        let context = try StorageKit.start(at: store.url) {
            $0.autoSchema(NoteRecord.self, PersonRecord.self)
            $0.addProjection(Tally("one"), mode: .async)
        }
        let pool = context.storage.pool
        var schema = Schema()
        schema.autoSchema(NoteRecord.self, PersonRecord.self)
        schema.addProjection(Tally("one"), mode: .async)
        try schema.run(on: pool)
        schema.addProjection(Tally("late"))
        let error = #expect(throws: StorageError.self) { try schema.run(on: pool) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("late") ?? false)
        try await context.facade.close()
    }

    enum Before {
        @StorageEntity(table: "stocks") struct Stock { var id: Int; var amount: String }
    }
    enum After {
        @StorageEntity(table: "stocks") struct Stock { var id: Int; var amount: Int }
    }

    /// Adds up by typed changes, whose values from before a conversion come converted.
    private struct Sums: Projection {
        let name = "sums"
        let version = 1
        let entities = ["stocks"]

        func prepare(_ db: Database) throws {
            try db.execute(
                sql: "CREATE TABLE sums(id INTEGER PRIMARY KEY, total INTEGER NOT NULL, rows INTEGER NOT NULL)")
            try db.execute(sql: "INSERT INTO sums VALUES (1, 0, 0)")
        }

        func apply(_ batch: ProjectionBatch, _ db: Database) throws {
            for change in try batch.changes(of: After.Stock.self) {
                try db.execute(
                    sql: "UPDATE sums SET total = total + ?, rows = rows + ?",
                    arguments: [
                        (change.new?.amount ?? 0) - (change.old?.amount ?? 0),
                        (change.new == nil ? 0 : 1) - (change.old == nil ? 0 : 1),
                    ])
            }
        }
    }

    @Test("Typed changes go through conversions", arguments: [ProjectionMode.inline, .async], [1, 2, 1_000])
    func typedChangesAreConverted(mode: ProjectionMode, batchSize: Int) async throws {
        let folder = try TemporaryFolder()
        let url = URL(fileURLWithPath: folder.path("a.sqlite"))
        let first = try StorageKit.start(at: url) { $0.autoSchema(Before.StockRecord.self) }.facade
        try await first.save((1...4).map { Before.Stock(id: $0, amount: "\($0)") })
        try await first.save(Before.Stock(id: 2, amount: "20"))
        try await first.save(Before.Stock(id: 3, amount: "many"))
        try await first.delete(Before.Stock.self, id: 4)
        try await first.close()
        let open = {
            try StorageKit.start(at: url) {
                $0.convertColumn("amount", of: "stocks", to: Int.self) { old in
                    guard case .text(let text) = old, let number = Int64(text) else { return -1 }
                    return .integer(number)
                }
                $0.autoSchema(After.StockRecord.self)
                $0.addProjection(Sums(), mode: mode, batchSize: batchSize)
            }.facade
        }
        let sums = { (storage: Storage) in
            try await storage.waitForProjections(through: try await storage.delete(After.Stock.self, id: 99))
            return try await storage.read { db in
                try GRDB.Row.fetchOne(db, sql: "SELECT total, rows FROM sums").map { [$0[0] as Int, $0[1] as Int] }
            }
        }
        let storage = try open()
        #expect(try await sums(storage) == [1 + 20 - 1, 3])
        try await storage.save([After.Stock(id: 1, amount: 100), After.Stock(id: 5, amount: 7)])
        try await storage.delete(After.Stock.self, id: 3)
        #expect(try await sums(storage) == [100 + 20 + 7, 3])
        try await storage.projections.rebuild("sums")
        #expect(try await sums(storage) == [127, 3])
        try await storage.close()
        let again = try open()
        try await again.projections.reset("sums")
        #expect(try await sums(again) == [127, 3])
        try await again.close()
    }

    // MARK: Tables

    @Test("Only the projection writes to its tables")
    func tablesAreProtected() async throws {
        let store = try store([Tally()], mode: .inline)
        let storage = store.storage
        try await storage.save(Note(id: 1, text: "a"))
        for sql in ["DELETE FROM tally", "UPDATE tally SET key = 'x'", "INSERT INTO tally VALUES (99, 'x', 'y')"] {
            let error = await #expect(throws: StorageError.self) { try await storage.write { try $0.execute(sql) } }
            #expect(error?.message.contains("only the projection tally") == true)
        }
        try await storage.close()
        let foreign = try DatabaseQueue(path: store.url.path)
        try await foreign.write { db in
            #expect(throws: DatabaseError.self) { try db.execute(sql: "DELETE FROM tally") }
            try db.execute(sql: "DROP INDEX tally_key")
        }
        try foreign.close()
        try await store.reopen()
        let findings = try await store.storage.verify().findings.map(\.description)
        #expect(findings.contains { $0.contains("tally_key is missing") })
        try await store.storage.projections.rebuild("tally")
        #expect(try await store.storage.verify().isSound)
    }

    /// Does one thing that a projection may not do.
    private struct Meddling: Projection {
        let name = "meddling"
        let version = 1
        var preparing = "CREATE TABLE meddled(x)"
        var applying = "INSERT INTO meddled VALUES (1)"
        func prepare(_ db: Database) throws { try db.execute(sql: preparing) }
        func apply(_ batch: ProjectionBatch, _ db: Database) throws { try db.execute(sql: applying) }
    }

    @Test(
        "A projection can't write elsewhere",
        arguments: [
            "UPDATE notes SET text = 'forged'", "DELETE FROM storage_log", "INSERT INTO notes VALUES (9, 'x', 0, 0)",
        ])
    func writingElsewhere(sql: String) async throws {
        for mode in [ProjectionMode.inline, .async] {
            let store = try store([Meddling(applying: sql)], mode: mode)
            if mode == .inline {
                await #expect(throws: StorageError.self) { try await store.storage.save(Note(id: 1, text: "a")) }
                #expect(try await store.storage.count(Note.self) == 0)
            } else {
                try await store.storage.save(Note(id: 1, text: "a"))
                try await waitUntilFailed(store.storage, "meddling")
                #expect(try await store.storage.get(Note.self, id: 1)?.text == "a")
            }
            #expect(try await store.storage.verify().isSound)
        }
    }

    @Test(
        "Tables that can't be created refuse the opening",
        arguments: [
            "CREATE TABLE storage_mine(x)", "DROP TABLE notes", "CREATE TABLE notes(x)",
            "CREATE INDEX more ON notes(text)",
            "INSERT INTO notes VALUES (1, 'x', 0, 0)",
        ])
    func refusedTables(sql: String) async throws {
        let store = try TemporaryStore { $0.autoSchema(NoteRecord.self) }
        try await store.storage.save(Note(id: 7, text: "a"))
        try await store.storage.close()
        #expect(throws: StorageError.self) {
            try StorageKit.start(at: store.url) {
                $0.autoSchema(NoteRecord.self)
                $0.addProjection(Meddling(preparing: sql))
            }
        }
        try await store.reopen()
        #expect(try await store.storage.verify().isSound)
        try await store.storage.save(Note(id: 8, text: "b"))
        #expect(try await store.storage.count(Note.self) == 2)
    }

    @Test("Invalid names are refused")
    func invalidNames() {
        for name in ["", "a b", "ü", "x'y", String(repeating: "x", count: 101)] {
            #expect(throws: StorageError.self) { try StorageKit.inMemory { $0.addProjection(Tally(name)) } }
        }
        #expect(throws: StorageError.self) {
            try StorageKit.inMemory {
                $0.addProjection(Tally())
                $0.addProjection(Tally(), mode: .async)
            }
        }
    }

    @Test("A store that is no longer used is released")
    func unusedStoreIsReleased() async throws {
        let store = try TemporaryStore()
        let url = store.url.deletingLastPathComponent().appendingPathComponent("other.sqlite")
        func open() throws {
            _ = try StorageKit.start(at: url) {
                $0.autoSchema(NoteRecord.self)
                $0.addProjection(Tally(), mode: .async)
            }
        }
        // Not closed: the task of the projection mustn't keep the file open for long.
        try open()
        // Until the file is free, which has no signal.
        try await eventually {
            do {
                try open()
                return true
            } catch let error as StorageError where error.code == .busy {
                return false
            }
        }
    }
}
