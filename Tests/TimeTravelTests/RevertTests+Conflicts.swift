import Foundation
import StorageHistory
import StorageKit
import StorageTesting
import TestSupport
import Testing

/// What a revert meets in the tables as they are now.
extension RevertTests {
    /// What triggers did is an event as well: it is reverted as such, and they don't do it once more.
    @Test("Reverting doesn't fire triggers")
    func triggersDuringRevert() async throws {
        let storage = try open()
        try await storage.write { tx in
            try tx.execute(
                """
                CREATE TRIGGER parts_counted AFTER INSERT ON parts
                BEGIN UPDATE items SET count = count + 1 WHERE id = NEW.itemId; END
                """)
            try tx.execute(
                """
                CREATE TRIGGER parts_gone AFTER DELETE ON parts
                BEGIN UPDATE items SET count = count - 1 WHERE id = OLD.itemId; END
                """)
        }
        try await storage.save(Item(id: 1, name: "a", count: 0))
        let begun = storage.head
        let commit = try #require(try await storage.save(Part(id: 1, itemId: 1)).commit)
        let counted = storage.head
        func count() async throws -> Int? { try await storage.get(Item.self, id: 1)?.count }
        #expect(try await count() == 1)
        let revert = try await storage.revert(commit)
        #expect(try await count() == 0)
        try await storage.revert(try #require(revert.receipt?.commit))
        #expect(try await count() == 1)
        try await storage.restore(to: .position(begun))
        #expect(try await count() == 0)
        try await storage.restore(to: .position(counted))
        #expect(try await count() == 1)
        try await storage.undo()
        try await storage.redo()
        #expect(try await count() == 1)
        // From then on they do what they did.
        try await storage.save(Part(id: 2, itemId: 1))
        #expect(try await count() == 2)
    }

    /// - Parameter policy: nil to restore everything there is, rows that refer to others too.
    @Test("Unique values return to their row", arguments: ConflictPolicy.allCases + [nil])
    func uniqueValuesReturn(policy: ConflictPolicy?) async throws {
        let storage = try open()
        try await storage.write { try $0.execute("CREATE UNIQUE INDEX items_by_name ON items(name)") }
        try await storage.save([
            Item(id: 1, name: "a", count: 1), Item(id: 2, name: "b", count: 2), Item(id: 3, name: "c", count: 3),
        ])
        if policy == nil { try await storage.save(Part(id: 1, itemId: 3)) }
        let before = try await state(storage)
        let point = storage.head
        try await storage.write { tx in
            // Row 1's name goes to a new row, and two others exchange theirs.
            try tx.delete(Item.self, id: 1)
            try tx.execute("UPDATE items SET name = 'x' WHERE id = 2")
            try tx.execute("UPDATE items SET name = 'b' WHERE id = 3")
            try tx.execute("UPDATE items SET name = 'c' WHERE id = 2")
            try tx.save(Item(id: 4, name: "a", count: 4))
        }
        if let policy {
            let report = try await storage.restore(Item.self, to: .position(point), onConflict: policy)
            #expect(report.outcome.conflicts.isEmpty)
            #expect(report.outcome.count == 4)
        } else {
            try await storage.restore(to: .position(point))
            #expect(try await storage.get(Part.self, id: 1)?.itemId == 3)
        }
        #expect(try await state(storage) == before)
        #expect(try await storage.verify().isSound)
    }

    /// Both rows keep their keys, so nothing happens to the rows that refer to them.
    @Test("Unique values are exchanged under rows that refer to theirs", arguments: [ConflictPolicy.abort, .skip])
    func uniqueValuesReturnUnderReferences(policy: ConflictPolicy) async throws {
        let storage = try open()
        try await storage.write { try $0.execute("CREATE UNIQUE INDEX items_by_name ON items(name)") }
        let empty = storage.head
        try await storage.save([Item(id: 1, name: "a", count: 1), Item(id: 2, name: "b", count: 2)])
        try await storage.save([Part(id: 1, itemId: 1), Part(id: 2, itemId: 2)])
        let before = try await state(storage)
        let point = storage.head
        try await storage.write { tx in
            try tx.execute("UPDATE items SET name = 'x' WHERE id = 1")
            try tx.execute("UPDATE items SET name = 'a' WHERE id = 2")
            try tx.execute("UPDATE items SET name = 'b' WHERE id = 1")
        }
        let report = try await storage.restore(Item.self, to: .position(point), onConflict: policy)
        #expect(report.outcome.conflicts.isEmpty)
        #expect(report.outcome.count == 2)
        #expect(try await state(storage) == before)
        #expect(try await storage.all(Part.self).map(\.itemId) == [1, 2])
        // They are enforced again, and a row that is referred to isn't deleted.
        await #expect(throws: StorageError.self) { try await storage.save(Part(id: 3, itemId: 99)) }
        let error = await #expect(throws: StorageError.self) {
            try await storage.restore(Item.self, to: .position(empty))
        }
        #expect(error?.message.contains("refer to it") == true, "\(String(describing: error))")
        #expect(try await storage.all(Part.self).count == 2)
        #expect(try await storage.verify().isSound)
    }

    /// Of rows that can't be brought back for one that stays none is lost.
    @Test("Rows that can't be restored are reported")
    func rowsThatCantBeRestored() async throws {
        let storage = try open()
        try await storage.write { try $0.execute("CREATE UNIQUE INDEX items_by_name ON items(name)") }
        try await storage.save([Item(id: 1, name: "a", count: 1), Item(id: 2, name: "b", count: 2)])
        let point = storage.head
        try await storage.write { tx in
            try tx.execute("UPDATE items SET name = 'x' WHERE id = 1")
            try tx.execute("UPDATE items SET name = 'a' WHERE id = 2")
        }
        let after = try await state(storage)
        let error = await #expect(throws: StorageError.self) {
            try await storage.restore(Item.self, id: 1, to: .position(point))
        }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("conflicts with it") ?? false)
        let report = try await storage.restore(Item.self, id: 1, to: .position(point), onConflict: .skip)
        #expect(report.outcome.conflicts.count == 1)
        #expect(report.outcome.count == 0)
        #expect(try await state(storage) == after)
    }

    /// - Parameter change: How row 3 gets the value 'y' by two events.
    @Test(
        "A row whose earlier event is blocked keeps the result of later ones",
        arguments: [
            "REPLACE INTO a(id, u, n) VALUES (3, 'y', 1)",
            "UPDATE a SET u = 'tmp' WHERE id = 3; UPDATE a SET u = 'y' WHERE id = 3",
            "DELETE FROM a WHERE id = 3; INSERT INTO a(id, u) VALUES (3, 'z'); UPDATE a SET u = 'y' WHERE id = 3",
        ], ConflictPolicy.allCases)
    func blockedRowStaysWhole(change: String, policy: ConflictPolicy) async throws {
        let storage = try openTable("CREATE TABLE a(id INTEGER PRIMARY KEY, u TEXT UNIQUE, n INTEGER)", "a")
        try await run("INSERT INTO a(id, u) VALUES (3, 'x'), (5, 'v')", storage)
        let commit = try await run("\(change); UPDATE a SET n = 7 WHERE id = 5", storage)
        try await run("INSERT INTO a(id, u) VALUES (4, 'x')", storage)
        let rows = "SELECT id || u || ifnull(n, '') FROM a ORDER BY id"
        let before = try await texts(rows, storage)
        if policy == .abort {
            let error = await #expect(throws: StorageError.self) { try await storage.revert(commit) }
            #expect(error?.code == .conflict)
            #expect(try await texts(rows, storage) == before)
            return
        }
        let plan = try await storage.revert(commit, onConflict: policy, isDryRun: true)
        let report = try await storage.revert(commit, onConflict: policy)
        #expect(plan.outcome == report.outcome)
        #expect(report.outcome.conflicts.map(\.key) == [[.integer(3)]])
        #expect(report.outcome.conflicts[0].reason.hasPrefix("another row conflicts with it"))
        #expect(report.outcome.count == 1)
        // Only the other row of the commit is reverted.
        #expect(try await texts(rows, storage) == before.map { $0 == "5v7" ? "5v" : $0 })
        #expect(try await storage.verify().isSound)
    }

    /// An insert and an update of a row are reverted together or not at all.
    @Test("A row that rows without history refer to keeps its updates")
    func referredRowStaysWhole() async throws {
        let storage = try openTable(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT);
            CREATE TABLE c(p INTEGER REFERENCES p(id) ON DELETE CASCADE);
            """, "p")
        let insertion = try await run(
            "INSERT INTO p(id, u) VALUES (1, 'a'); UPDATE p SET u = 'b'; INSERT INTO c(p) VALUES (1)", storage)
        let report = try await storage.revert(insertion, onConflict: .skip)
        #expect(report.outcome.conflicts.map(\.key) == [[.integer(1)]])
        #expect(report.outcome.count == 0)
        #expect(try await texts("SELECT id || u FROM p", storage) == ["1b"])
    }

    @Test("Columns are compared one by one")
    func columnsRevertSeparately() async throws {
        let storage = try open()
        try await storage.save(Item(id: 1, name: "a", count: 1, note: "old"))
        let commit = try #require(
            try await storage.write { try $0.execute("UPDATE items SET name = 'b', count = 2 WHERE id = 1") }.commit)
        try await storage.write { try $0.execute("UPDATE items SET note = 'later' WHERE id = 1") }
        try await storage.revert(commit)
        #expect(try await storage.get(Item.self, id: 1) == Item(id: 1, name: "a", count: 1, note: "later"))

        // The count is changed by somebody else: that is a conflict.
        let next = try #require(
            try await storage.write { try $0.execute("UPDATE items SET name = 'c', count = 5 WHERE id = 1") }.commit)
        try await storage.write { try $0.execute("UPDATE items SET count = 6 WHERE id = 1") }
        let head = storage.head
        let error = await #expect(throws: StorageError.self) { try await storage.revert(next) }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("items/1#count") ?? false)
        #expect(storage.head == head)
        let skipped = try await storage.revert(next, onConflict: .skip)
        #expect(skipped.outcome.updated == 1)
        #expect(
            skipped.outcome.conflicts.map { [$0.column, "\($0.expected ?? .null)", "\($0.found ?? .null)"] }
                == [["count", "5", "6"]])
        #expect(try await storage.get(Item.self, id: 1) == Item(id: 1, name: "a", count: 6, note: "later"))
        try await storage.revert(next, onConflict: .overwrite)
        #expect(try await storage.get(Item.self, id: 1)?.count == 1)
    }

    @Test("Rows that were inserted or deleted since are conflicts")
    func laterInsertsAndDeletes() async throws {
        let storage = try open()
        let born = try #require(try await storage.save(Item(id: 1, name: "a", count: 1)).commit)
        try await storage.write { try $0.execute("UPDATE items SET name = 'b' WHERE id = 1") }
        await #expect(throws: StorageError.self) { try await storage.revert(born) }
        let died = try #require(try await storage.delete(Item.self, id: 1).commit)
        // What is gone already needn't be taken away.
        #expect(try await storage.revert(born).outcome.count == 0)
        try await storage.save(Item(id: 1, name: "other", count: 9))
        let error = await #expect(throws: StorageError.self) { try await storage.revert(died) }
        #expect(error?.message.contains("again") ?? false)
        try await storage.revert(died, onConflict: .overwrite)
        #expect(try await storage.get(Item.self, id: 1) == Item(id: 1, name: "b", count: 1))
    }

    @Test("Rows that refer to a row aren't deleted with it")
    func referringRowsConflict() async throws {
        let storage = try open()
        let commit = try #require(try await storage.save(Item(id: 1, name: "a", count: 1)).commit)
        try await storage.save(Part(id: 7, itemId: 1))
        let error = await #expect(throws: StorageError.self) { try await storage.revert(commit) }
        #expect(error?.code == .conflict)
        #expect(try await storage.count(Part.self) == 1)
        try await storage.revert(commit, onConflict: .overwrite)
        #expect(try await storage.count(Part.self) == 0)
        // Both come back from one commit, whatever their order.
        try await storage.undo()
        #expect(try await storage.count(Part.self) == 1)
        #expect(try await storage.count(Item.self) == 1)
    }

    @Test("Restoring gives the state of the point", arguments: testSeeds(2))
    func restoringToPoint(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let storage = try open()
        var points: [(position: Int64, items: [Item])] = []
        for _ in 0..<60 {
            _ = try await change(storage, using: &random)
            points.append((storage.head, try await state(storage)))
        }
        for point in points.shuffled(using: &random).prefix(20) {
            let events = storage.head
            try await storage.restore(Item.self, to: .position(point.position), reason: "go back")
            #expect(try await state(storage) == point.items)
            #expect(storage.head >= events)
            let id = Self.ids[Int.random(in: 0..<8, using: &random)]
            let other = try #require(points.randomElement(using: &random))
            try await storage.restore(Item.self, id: id, to: .position(other.position))
            #expect(try await storage.get(Item.self, id: id) == other.items.first { $0.id == id })
        }
        try await storage.save(Item(id: 50, name: "late", count: 0))
        try await storage.save(Part(id: 1, itemId: 50))
        try await storage.restore(to: .position(points[0].position))
        #expect(try await state(storage) == points[0].items)
        #expect(try await storage.count(Part.self) == 0)
        #expect(try await storage.verify().isSound)
    }

    private func openTable(_ sql: String, _ tables: String...) throws -> Storage {
        try openTable(sql, adopting: tables)
    }

    func openTable(_ sql: String, adopting tables: [String]) throws -> Storage {
        try StorageKit.inMemory { schema in
            schema.migration("tables") { try $0.execute(sql: sql) }
            for table in tables { schema.adopt(table) }
        }.facade
    }

    @discardableResult
    func run(_ sql: String, _ storage: Storage) async throws -> Int64 {
        try #require(try await storage.write { try $0.execute(sql) }.commit)
    }

    /// What the schema says of conflicts would delete a row of somebody else's, or leave one out.
    @Test("Conflict clauses of the schema don't affect a revert", arguments: ["REPLACE", "IGNORE"])
    func conflictClauses(
        clause: String
    ) async throws {
        let storage = try openTable("CREATE TABLE u(id INTEGER PRIMARY KEY, x UNIQUE ON CONFLICT \(clause))", "u")
        func rows() async throws -> [String] {
            try await storage.read { try String.fetchAll($0, sql: "SELECT id || x FROM u ORDER BY id") }
        }
        try await run("INSERT INTO u(id, x) VALUES (1, 'x'), (3, 'y')", storage)
        let deletion = try await run("DELETE FROM u WHERE id = 1", storage)
        let update = try await run("UPDATE u SET x = 'z' WHERE id = 3", storage)
        try await run("INSERT INTO u(id, x) VALUES (2, 'x'), (4, 'y')", storage)
        for commit in [deletion, update] {
            let error = await #expect(throws: StorageError.self) { try await storage.revert(commit) }
            #expect(error?.code == .conflict)
            let report = try await storage.revert(commit, onConflict: .skip)
            #expect(report.outcome.conflicts.count == 1)
            #expect(report.outcome.count == 0)
        }
        #expect(try await rows() == ["2x", "3z", "4y"])
    }

    /// A commit that writes a row more than once has states of it that nobody has seen.
    @Test(
        "A row that can't be reverted stays as it is",
        arguments: [
            "INSERT INTO t(id, a, b) VALUES (2, 1, 1); UPDATE t SET a = 2, b = 2 WHERE id = 2",
            "DELETE FROM t WHERE id = 1; INSERT INTO t(id, a, b) VALUES (1, 1, 1); UPDATE t SET a = 2, b = 2",
        ])
    func rowWrittenTwice(statements: String) async throws {
        let storage = try openTable("CREATE TABLE t(id INTEGER PRIMARY KEY, a, b)", "t")
        func rows() async throws -> [String] {
            try await storage.read { try String.fetchAll($0, sql: "SELECT id || ':' || a || b FROM t ORDER BY id") }
        }
        try await run("INSERT INTO t(id, a, b) VALUES (1, 0, 0)", storage)
        let commit = try #require(
            try await storage.write { tx in
                for statement in statements.split(separator: ";") { try tx.execute(String(statement)) }
            }.commit)
        try await run("UPDATE t SET a = 3 WHERE a = 2", storage)
        let left = try await rows()
        let report = try await storage.revert(commit, onConflict: .skip)
        #expect(report.outcome.conflicts.map(\.column) == ["a"])
        #expect(report.outcome.conflicts.map(\.expected) == [.integer(2)])
        #expect(report.outcome.count == 0)
        #expect(try await rows() == left)
    }

    /// A value that must be unique is another row's by now, also where the row itself is there again.
    @Test("A row that was inserted again may have lost its unique value")
    func reinsertedRowLostUniqueValue() async throws {
        let storage = try openTable("CREATE TABLE w(id INTEGER PRIMARY KEY, u UNIQUE)", "w")
        try await run("INSERT INTO w(id, u) VALUES (1, 'x')", storage)
        let deletion = try await run("DELETE FROM w WHERE id = 1", storage)
        try await run("INSERT INTO w(id, u) VALUES (1, 'q'), (2, 'x')", storage)
        let report = try await storage.revert(deletion, onConflict: .overwrite)
        #expect(report.outcome.conflicts.map(\.key) == [[.integer(1)]])
        #expect(report.outcome.conflicts.first?.reason.contains("another row conflicts with it") == true)
        #expect(report.outcome.count == 0)
    }

    /// Two spellings of a key are one row to the table and two to the log.
    @Test("The spelling of a key is reverted")
    func spellingOfKeyReverts() async throws {
        let storage = try openTable(
            """
            CREATE TABLE a(k TEXT COLLATE NOCASE PRIMARY KEY NOT NULL, n INTEGER);
            CREATE TABLE b(id INTEGER PRIMARY KEY, k TEXT NOT NULL REFERENCES a(k) ON UPDATE CASCADE ON DELETE CASCADE);
            """, "a", "b")
        func rows() async throws -> [String] {
            try await storage.read { db in
                try String.fetchAll(db, sql: "SELECT k || n FROM a UNION ALL SELECT id || k FROM b")
            }
        }
        try await run("INSERT INTO a(k, n) VALUES ('a', 1); INSERT INTO b(id, k) VALUES (1, 'a')", storage)
        let point = storage.head
        let before = try await rows()
        let spelling = try await run("UPDATE a SET k = 'A' WHERE k = 'a'", storage)
        let after = try await rows()
        let report = try await storage.revert(spelling)
        #expect(report.outcome.conflicts.isEmpty)
        #expect(try await rows() == before)
        try await storage.revert(try #require(report.receipt?.commit))
        #expect(try await rows() == after)
        let first = try await run("UPDATE a SET n = 2", storage)
        let last = try await run("UPDATE a SET k = 'a', n = 3", storage)
        try await storage.revert(first...last)
        #expect(try await rows() == after)
        // What came since is a conflict as ever.
        let again = try await run("UPDATE a SET k = 'a'", storage)
        try await run("UPDATE a SET n = 9", storage)
        let error = await #expect(throws: StorageError.self) { try await storage.revert(again) }
        #expect(error?.code == .conflict)
        for spelling in ["A", "a"] {
            try await run("UPDATE a SET k = '\(spelling)', n = 8", storage)
            try await storage.restore(to: .position(point))
            #expect(try await rows() == before)
        }
        #expect(try await storage.verify().isSound)
    }

    private func texts(_ sql: String, _ storage: Storage) async throws -> [String] {
        try await storage.read { try String.fetchAll($0, sql: sql) }
    }

    /// Rows without history couldn't be brought back.
    @Test("Rows that refer to a restored row stay", arguments: [true, false], ConflictPolicy.allCases)
    func referringRowsStay(haveHistory: Bool, policy: ConflictPolicy) async throws {
        let storage = try openTable(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT UNIQUE);
            CREATE TABLE c(id INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p(id) ON DELETE CASCADE);
            """, adopting: haveHistory ? ["p", "c"] : ["p"])
        try await run(
            "INSERT INTO p(id, u) VALUES (1, 'a'), (2, 'b'); INSERT INTO c(id, p) VALUES (1, 1), (2, 2)", storage)
        let point = storage.head
        try await run(
            """
            UPDATE p SET u = 'x' WHERE id = 1; UPDATE p SET u = 'a' WHERE id = 2; UPDATE p SET u = 'b' WHERE id = 1;
            INSERT INTO c(id, p) VALUES (3, 1)
            """, storage)
        let report = try await storage.engine.restore(
            ["p"], to: .position(point), policy: policy, metadata: CommitMetadata())
        #expect(report.outcome.conflicts.isEmpty)
        #expect(report.outcome.updated == 2)
        #expect(report.outcome.count == 2)
        #expect(try await texts("SELECT id || u FROM p ORDER BY id", storage) == ["1a", "2b"])
        #expect(try await texts("SELECT id || p FROM c ORDER BY id", storage) == ["11", "22", "31"])
        #expect(try await storage.verify().isSound)
    }

    @Test("A row isn't deleted from under rows without history", arguments: ["CASCADE", "SET NULL"])
    func referringRowsWithoutHistory(action: String) async throws {
        let storage = try openTable(
            """
            CREATE TABLE p(id INTEGER PRIMARY KEY, u TEXT);
            CREATE TABLE c(p INTEGER REFERENCES p(id) ON DELETE \(action), k TEXT);
            """, "p")
        let insertion = try await run(
            "INSERT INTO p(id, u) VALUES (1, 'a'); INSERT INTO c(p, k) VALUES (1, 'x')", storage)
        let error = await #expect(throws: StorageError.self) { try await storage.revert(insertion) }
        #expect(error?.code == .conflict)
        #expect(error?.message.contains("p/1") ?? false)
        let report = try await storage.revert(insertion, onConflict: .skip)
        #expect(report.outcome.conflicts.map(\.key) == [[.integer(1)]])
        #expect(report.outcome.count == 0)
        #expect(try await texts("SELECT p || k FROM c", storage) == ["1x"])
    }

    @Test("A commit of only the schema has nothing to revert")
    func schemaCommitCantBeReverted() async throws {
        let storage = try open()
        let error = await #expect(throws: StorageError.self) { try await storage.revert(1) }
        #expect(error?.code == .notFound)
        await #expect(throws: StorageError.self) { try await storage.revert(99) }
        await #expect(throws: StorageError.self) { try await storage.undo() }
    }
}
