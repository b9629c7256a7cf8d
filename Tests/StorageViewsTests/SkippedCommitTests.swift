import GRDB
import PredicateTestSupport
import StorageCore
import StorageEntities
import TestSupport
import Testing

@testable import StorageLog
@testable import StorageViews

/// A commit that concerns no view wakes nobody, and one that concerns a view always does, whatever happens meanwhile.
@Suite struct SkippedCommitTests {
    private static func id(_ key: String) -> RowPredicate { .comparison(column: "id", .equal, .value(.text(key))) }

    private static func list(
        _ predicate: RowPredicate?, _ engine: SubscriptionEngine
    ) throws -> ListOracle {
        try ListOracle(ListSpec(RoutedStore.form, RowRequest(predicate: predicate), counts: true), engine)
    }

    private static func run(_ sql: String, on store: StorageEngine) async throws {
        _ = try await store.commit(CommitMetadata()) { _, db in try db.execute(sql: sql) }
    }

    /// The same on the calling thread.
    private static func runNow(_ sql: String, on store: StorageEngine) throws {
        try store.withWriterNow { writer, db in
            _ = try writer.group(db) { try writer.commit(CommitMetadata()) { try db.execute(sql: sql) } }
        }
    }

    private static let filling = """
        INSERT INTO rows(id, i, t) VALUES ('a', 1, 'one'), ('b', 2, 'two'), ('c', 30, 'three'), ('d', 40, 'four')
        """

    /// Transactions of the filled table beside a view of the rows with `i < 10`, and whether they concern it.
    private static let transactions: [(sql: String, concerns: Bool)] = [
        ("INSERT INTO rows(id, i) VALUES ('e', 50)", false),
        ("UPDATE rows SET t = 'other' WHERE id = 'c'", false),
        ("UPDATE rows SET t = 'more', i = 31 WHERE id = 'c'", false),
        ("DELETE FROM rows WHERE id = 'e'", false),
        ("INSERT INTO rows(id, i) VALUES ('f', NULL)", false),
        ("UPDATE rows SET id = 'g' WHERE id = 'f'", false),
        ("INSERT INTO rows(id, i) VALUES ('h', 5); DELETE FROM rows WHERE id = 'h'", false),
        ("UPDATE rows SET t = 'x' WHERE id = 'c'; UPDATE rows SET t = 'y' WHERE id = 'c'", false),
        (
            "SAVEPOINT s; UPDATE rows SET i = 3 WHERE id = 'c'; ROLLBACK TO s; UPDATE rows SET t = 'z' WHERE id = 'c'",
            false
        ),
        ("UPDATE rows SET t = 'in' WHERE id = 'a'", true),
        ("UPDATE rows SET i = 9 WHERE id = 'c'", true),
        ("UPDATE rows SET t = 'x' WHERE id = 'c'", true),
        ("UPDATE rows SET i = 32 WHERE id = 'c'", true),
        ("UPDATE rows SET t = 'x' WHERE id = 'd'; UPDATE rows SET i = 4 WHERE id = 'd'", true),
        ("UPDATE rows SET i = 40 WHERE id = 'd'; UPDATE rows SET t = 'y' WHERE id = 'd'", true),
        ("UPDATE rows SET id = 'bb' WHERE id = 'b'", true),
        ("DELETE FROM rows WHERE id = 'bb'", true),
        ("INSERT INTO rows(id, i) VALUES ('k', 1)", true),
    ]

    @Test("Only commits that concern a view wake it")
    func relevantCommitsWake() async throws {
        let store = try await RoutedStore.open { _ in }
        try await Self.run(Self.filling, on: store)
        let engine = SubscriptionEngine(LiveSource(store))
        var lists = [try Self.list(.comparison(column: "i", .less, .value(.integer(10))), engine)]
        // 10,000 where the suite runs at twenty times its everyday size.
        for number in 0..<Int(500 * max(1, min(20, testScale))) {
            lists.append(try Self.list(Self.id("nobody \(number)"), engine))
        }
        for (sql, concerns) in Self.transactions {
            let before = await engine.counters
            try await Self.run(sql, on: store)
            await engine.catchUp()
            let after = await engine.counters
            #expect((after.steps > before.steps) == concerns, "\(sql)")
            #expect(after.skipped == before.skipped + (concerns ? 0 : 1), "\(sql)")
            let faults = try await store.read { [lists] db in try lists.prefix(2).compactMap { try $0.fault(db) } }
            #expect(faults.isEmpty, "\(sql): \(faults)")
        }
    }

    /// What can't be decided quickly wakes.
    @Test("What isn't certain wakes")
    func uncertaintyWakes() async throws {
        let store = try await RoutedStore.open { _ in }
        try await Self.run(Self.filling, on: store)
        let engine = SubscriptionEngine(LiveSource(store))
        let lists = [try Self.list(.comparison(column: "i", .less, .value(.integer(10))), engine)]
        func wakes(_ sql: String) async throws -> Bool {
            let before = await engine.counters.steps
            try await Self.run(sql, on: store)
            await engine.catchUp()
            return await engine.counters.steps > before
        }
        let many = """
            WITH RECURSIVE n(x) AS (SELECT 100 UNION ALL SELECT x + 1 FROM n WHERE x < 164)
            INSERT INTO rows(id, i) SELECT 'n' || x, x FROM n
            """
        #expect(try await wakes(many))
        #expect(try await wakes("UPDATE rows SET t = 'x' WHERE id = 'c'") == false)
        // Of the schema.
        #expect(try await wakes("ALTER TABLE rows ADD COLUMN extra"))
        #expect(try await wakes("UPDATE rows SET extra = 'x' WHERE id = 'c'") == false)
        let sql = try Self.list(.sql("i > ?", [.integer(1_000)]), engine)
        #expect(try await wakes("UPDATE rows SET extra = 'y' WHERE id = 'c'"))
        let faults = try await store.read { [lists, sql] db in try (lists + [sql]).compactMap { try $0.fault(db) } }
        #expect(faults.isEmpty)
    }

    /// A commit that concerns only the view that is being opened, at each moment of opening it.
    @Test("A commit while a view registers is delivered")
    func commitDuringRegistration() async throws {
        let moments = try await atEachMoment("UPDATE rows SET t = 'changed meanwhile' WHERE id = 'b'") { run in
            [try Self.list(Self.id("b"), run.engine)]
        }
        #expect(moments >= 4)
    }

    /// A commit that a view is concerned by only as the table is since the commit before, at each moment of taking that in.
    @Test("A commit while a schema change is applied is delivered")
    func commitDuringSchemaChange() async throws {
        let moments = try await atEachMoment("UPDATE rows SET i = 3 WHERE id = 'c'") { run in
            try await Self.run(
                """
                ALTER TABLE rows RENAME COLUMN i TO v; ALTER TABLE rows RENAME COLUMN u TO i;
                ALTER TABLE rows RENAME COLUMN v TO u;
                """, on: run.store)
            return []
        }
        #expect(moments >= 4)
    }

    /// - Parameter body: Opens more views beside that of the rows with `i < 10`.
    private func atEachMoment(
        _ interruption: String, _ body: (Moments.Run) async throws -> [ListOracle]
    ) async throws -> Int {
        try await Moments.each(
            filling: { try await Self.run(Self.filling, on: $0) },
            interruption: { store, _ in try Self.runNow(interruption, on: store) }
        ) { run in
            let list = try Self.list(.comparison(column: "i", .less, .value(.integer(10))), run.engine)
            // What it holds back is held back.
            try await Self.run("UPDATE rows SET t = 'x' WHERE id = 'd'", on: run.store)
            #expect(await run.engine.counters.skipped == 1)
            run.arm()
            return [list] + (try await body(run))
        }
    }

    /// Views of single rows that come and go while somebody writes rows at random.
    @Test("Views that open while others write miss nothing", arguments: RouterSettings.seeds(3, from: 31_000))
    func viewsOpeningDuringWrites(seed: UInt64) async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        let writing = Task {
            var generator = PredicateGenerator(seed: seed)
            for number in 0..<10_000 {
                // Further ones only until one was skipped: on a busy machine the views may open late.
                if number >= 200 {
                    guard await engine.counters.skipped == 0 else { break }
                }
                try await RandomRows.commit(to: store, &generator)
                if number % 40 == 39 {
                    try await Self.run(
                        "ALTER TABLE rows \(number % 80 == 39 ? "ADD COLUMN extra INTEGER" : "DROP COLUMN extra")",
                        on: store)
                }
            }
        }
        var lists: [ListOracle] = []
        for round in 0..<80 {
            lists.append(try Self.list(Self.id("k\(round % RandomRows.keys)"), engine))
            // Some go again, so that never all rows have a view.
            if lists.count > 5 { lists.removeFirst() }
            // Time for commits in between.
            try await Task.sleep(for: .milliseconds(1))
        }
        try await writing.value
        await engine.catchUp()
        let faults = try await store.read { [lists] db in try lists.compactMap { try $0.fault(db) } }
        #expect(faults.isEmpty, "seed \(seed): \(faults.prefix(2))")
        #expect(await engine.counters.skipped > 0)
    }

    /// A change that waits to be taken in can be read only as long as its row stays as it is, so what comes after it waits
    /// with it.
    /// More than the inbox keeps one by one, behind the state that the step under way has chosen.
    @Test("Commits while a state is held are applied, however many they are")
    func manyCommitsWhileStateIsHeld() async throws {
        try await RoutedStore.onDisk { store in
            try await Self.run(Self.filling, on: store)
            let source = InterruptedSource(store) {
                do {
                    for number in 0..<300 {
                        // Only the first one changes this row: what follows can't make up for it.
                        let id = number == 0 ? "b" : "a"
                        try Self.runNow("UPDATE rows SET t = 'after \(number)' WHERE id = '\(id)'", on: store)
                    }
                } catch {
                    Issue.record(error)
                }
            }
            let engine = SubscriptionEngine(source)
            let list = try Self.list(nil, engine)
            // When the state is held that this commit asks for.
            source.arm(1)
            try await Self.run("UPDATE rows SET t = 'before' WHERE id = 'a'", on: store)
            await engine.catchUp()
            #expect(source.hasHappened)
            await engine.catchUp()
            #expect(try await store.read { try list.fault($0) } == nil)
        }
    }

    @Test("What comes after a pending change is applied with it")
    func appliedWithPendingChange() async throws {
        let store = try await RoutedStore.open { _ in }
        try await Self.run(Self.filling, on: store)
        let engine = SubscriptionEngine(LiveSource(store))
        let request = RowRequest(
            predicate: .comparison(column: "i", .less, .value(.integer(10))), orderings: [RowOrdering("t")])
        let list = try ListOracle(ListSpec(RoutedStore.form, request), engine)
        try engine.now { _ in
            try Self.runNow("UPDATE rows SET i = 50 WHERE id = 'a'", on: store)
            try Self.runNow("UPDATE rows SET r = 1 WHERE id = 'a'", on: store)
        }
        await engine.catchUp()
        let counters = await engine.counters
        #expect(counters.reloads == 0)
        #expect(counters.skipped == 0)
        let fault = try await store.read { db in try list.fault(db) }
        #expect(fault == nil)
    }

    /// A view of a timeline gets no commits; it must not miss any when it comes to the present.
    @Test("A timeline that becomes live misses nothing")
    func timelineTurnedLive() async throws {
        try await RoutedStore.onDisk { store in
            try await Self.run(Self.filling, on: store)
            let source = ReplaySource(store, at: store.committed.position)
            let engine = SubscriptionEngine(source)
            let list = try Self.list(Self.id("a"), engine)
            try await Self.run("UPDATE rows SET t = 'later' WHERE id = 'a'", on: store)
            try await Self.run("UPDATE rows SET t = 'later' WHERE id = 'b'", on: store)
            source.goLive()
            try await Self.run("UPDATE rows SET t = 'meanwhile' WHERE id = 'a'", on: store)
            await engine.catchUp()
            #expect(try await store.read { try list.fault($0) } == nil)
            #expect(await engine.counters.skipped == 0)
            try await Self.run("UPDATE rows SET t = 'last' WHERE id = 'b'", on: store)
            #expect(await engine.counters.skipped == 1)
            try await Self.run("UPDATE rows SET t = 'last' WHERE id = 'a'", on: store)
            await engine.catchUp()
            #expect(try await store.read { try list.fault($0) } == nil)
        }
    }

    /// A store that somebody else writes to emits no events.
    @Test("The commits of another process are all looked at")
    func foreignCommits() async throws {
        let store = try await RoutedStore.open { _ in }
        try await Self.run(Self.filling, on: store)
        let engine = SubscriptionEngine(QuietSource(store))
        let list = try Self.list(Self.id("a"), engine)
        let before = await engine.counters.steps
        for number in 0..<3 {
            try await Self.run("UPDATE rows SET t = '\(number)' WHERE id = 'd'", on: store)
            await engine.catchUp()
        }
        #expect(await engine.counters.steps == before + 3)
        withExtendedLifetime(list) {}
    }
}
