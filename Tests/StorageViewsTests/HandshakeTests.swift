import Foundation
import GRDB
import PredicateTestSupport
import StorageCore
import StorageEntities
import Synchronization
import Testing

@testable import StorageLog
@testable import StorageRouting
@testable import StorageViews

/// Whatever happens between registering and going live, a view misses nothing and takes nothing in twice.
@Suite struct HandshakeTests {
    /// A commit at each moment of opening a view, and again at each moment of taking a commit in.
    @Test("A commit at any moment is seen once")
    func commitAtAnyMoment() async throws {
        let moments = try await Moments.each(
            filling: { store in
                var generator = PredicateGenerator(seed: 1)
                for _ in 0..<4 { try await RandomRows.commit(to: store, &generator) }
            },
            interruption: { store, moment in try RandomRows.commitNow(to: store, seed: UInt64(moment + 1) * 77) }
        ) { run in
            run.arm()
            let request = RowRequest(orderings: [RowOrdering("i")], limit: 4, offset: 1)
            let lists = [
                try ListOracle(ListSpec(RoutedStore.form, RowRequest(), counts: true), run.engine),
                try ListOracle(ListSpec(RoutedStore.form, request, margin: 1), run.engine),
            ]
            var generator = PredicateGenerator(seed: UInt64(run.moment + 1))
            try await RandomRows.commit(to: run.store, &generator, canFail: false)
            return lists
        }
        // Beginning to follow, three reads with two moments before and behind each of them.
        #expect(moments >= 12)
    }

    /// The same where the view reads beside the engine, which goes on meanwhile.
    @Test("A commit at any moment of a first read beside the engine is seen once")
    func commitDuringFirstRead() async throws {
        let moments = try await Moments.each(
            filling: { store in
                var generator = PredicateGenerator(seed: 1)
                for _ in 0..<4 { try await RandomRows.commit(to: store, &generator) }
            },
            interruption: { store, moment in
                for number in 0..<3 { try RandomRows.commitNow(to: store, seed: UInt64(moment * 3 + number + 1) * 77) }
            }
        ) { run in
            run.arm()
            let request = RowRequest(orderings: [RowOrdering("i")], limit: 4, offset: 1)
            let lists = [
                try await ListOracle(ListSpec(RoutedStore.form, RowRequest(), counts: true), beside: run.engine),
                try await ListOracle(ListSpec(RoutedStore.form, request, margin: 1), beside: run.engine),
            ]
            var generator = PredicateGenerator(seed: UInt64(run.moment + 1))
            try await RandomRows.commit(to: run.store, &generator, canFail: false)
            return lists
        }
        // Beginning to follow, and two first reads and two steps with two moments before and behind each of them.
        #expect(moments >= 18)
    }

    /// A change of the schema between the first read and the step that takes the view in.
    @Test("A column renamed during a first read is known", arguments: 0..<4)
    func schemaChangeDuringFirstRead(moment: Int) async throws {
        try await RoutedStore.onDisk { store in
            let source = InterruptedSource(store) {
                do {
                    try store.withWriterNow { writer, db in
                        _ = try writer.group(db) {
                            try writer.commit(CommitMetadata()) {
                                try db.execute(
                                    sql: """
                                        ALTER TABLE rows RENAME COLUMN i TO v; ALTER TABLE rows RENAME COLUMN u TO i;
                                        ALTER TABLE rows RENAME COLUMN v TO u;
                                        INSERT INTO rows(id, i, u) VALUES ('c', 5, 500);
                                        """)
                            }
                        }
                    }
                } catch {
                    Issue.record(error)
                }
            }
            _ = try await store.commit(CommitMetadata()) { _, db in
                try db.execute(sql: "INSERT INTO rows(id, i, u) VALUES ('a', 1, 50), ('b', 50, 1)")
            }
            let engine = SubscriptionEngine(source)
            source.arm(moment)
            let predicate = RowPredicate.comparison(column: "i", .less, .value(.integer(10)))
            let list = try await ListOracle(
                ListSpec(RoutedStore.form, RowRequest(predicate: predicate)), beside: engine)
            await engine.catchUp()
            #expect(source.hasHappened)
            #expect(try await store.read { try list.fault($0) } == nil)
        }
    }

    /// A view that takes long to read its first value must not keep others waiting.
    @Test("The engine goes on during a first read", arguments: 0..<4)
    func engineGoesOnDuringFirstRead(moment: Int) async throws {
        try await RoutedStore.onDisk { store in
            let engine = Mutex<SubscriptionEngine?>(nil)
            let counts = Mutex<[Int]>([])
            let source = InterruptedSource(store) {
                // Both would wait for ever for an engine that reads.
                engine.withLock { $0 }?.now { engine in
                    do {
                        let update = PendingUpdate<ListUpdate<[StorageValue]>>(immediately: { update in
                            counts.withLock { $0.append(update.whole?.count ?? -1) }
                        })
                        _ = try engine.add(ListNode(ListSpec(RoutedStore.form, RowRequest())), update)
                    } catch {
                        Issue.record(error)
                    }
                }
            }
            _ = try await store.commit(CommitMetadata()) { _, db in
                try db.execute(sql: "INSERT INTO rows(id, i) VALUES ('a', 1), ('b', 50)")
            }
            let made = SubscriptionEngine(source)
            engine.withLock { $0 = made }
            source.arm(moment)
            let list = try await ListOracle(ListSpec(RoutedStore.form, RowRequest()), beside: made)
            #expect(counts.withLock { $0 } == [2])
            #expect(list.shown?.count == 2)
        }
    }

    /// However many views begin at once, the engine has a connection for its steps.
    @Test("Long first reads leave the engine its connection")
    func longFirstReads() async throws {
        try await RoutedStore.onDisk { store in
            let source = LiveSource(store)
            let (gate, begun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let reads = (0..<12).map { _ in
                Task {
                    try await source.readBeside(overlaying: []) { _ in
                        begun.signal()
                        gate.wait()
                    }
                }
            }
            await withCheckedContinuation { continuation in
                Thread.detachNewThread {
                    for _ in 0..<2 { begun.wait() }
                    continuation.resume()
                }
            }
            let engine = SubscriptionEngine(source)
            let list = try ListOracle(ListSpec(RoutedStore.form, RowRequest()), engine)
            _ = try await store.commit(CommitMetadata()) { _, db in
                try db.execute(sql: "INSERT INTO rows(id, i) VALUES ('a', 1)")
            }
            await engine.catchUp()
            #expect(try await store.read { try list.fault($0) } == nil)
            for _ in reads { gate.signal() }
            for read in reads { try await read.value }
        }
    }

    /// An entity that somebody looked at, and nobody when its columns changed, is looked at anew.
    @Test("A column that was added between views is known")
    func columnAddedUnobserved() async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        _ = try ListOracle(ListSpec(RoutedStore.form, RowRequest()), engine)
        while await engine.nodeCount > 0 { await Task.yield() }
        _ = try await store.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "ALTER TABLE rows ADD COLUMN extra INTEGER")
            try db.execute(sql: "INSERT INTO rows(id, extra) VALUES ('a', 1), ('b', 2)")
        }
        let entity = try await store.withWriter { writer, _ in writer.catalog.entity(named: "rows") }
        let form = RowForm<StorageValue>(table: QueryTable(try #require(entity))) { row in
            row.value(at: 0)
        }
        let spec = ListSpec(form, RowRequest(predicate: .comparison(column: "extra", .equal, .value(1))))
        let reported = Mutex<[StorageValue]>([])
        let handle = try engine.now { engine in
            try engine.add(
                ListNode(spec), PendingUpdate { update in reported.withLock { update.difference.apply(to: &$0) } })
        }
        #expect(reported.withLock { $0 } == ["a"])
        _ = try await store.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "UPDATE rows SET extra = 1 WHERE id = 'b'")
        }
        await engine.catchUp()
        #expect(reported.withLock { $0 } == ["a", "b"])
        #expect(await engine.counters.router.fallbacks == 0)
        withExtendedLifetime(handle) {}
    }

    /// Looking for an entity that isn't there must not hide that another one has changed.
    @Test("A view that can't be opened hides no change of the schema")
    func failedOpeningHidesNoChange() async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(QuietSource(store))
        let predicate = RowPredicate.comparison(column: "i", .less, .value(.integer(10)))
        let list = try ListOracle(ListSpec(RoutedStore.form, RowRequest(predicate: predicate)), engine)
        _ = try await store.commit(CommitMetadata()) { _, db in
            try db.execute(
                sql: """
                    INSERT INTO rows(id, i, u) VALUES ('a', 1, 50), ('b', 50, 1);
                    ALTER TABLE rows RENAME COLUMN i TO v; ALTER TABLE rows RENAME COLUMN u TO i;
                    ALTER TABLE rows RENAME COLUMN v TO u;
                    """)
        }
        var entity = try #require(await store.withWriter { writer, _ in writer.catalog.entity(named: "rows") })
        entity.name = "nothing"
        let form = RowForm<StorageValue>(table: QueryTable(entity)) { $0.value(at: 0) }
        #expect(throws: StorageError.self) {
            try engine.now { _ = try $0.add(ListNode(ListSpec(form, RowRequest())), PendingUpdate { _ in }) }
        }
        await engine.catchUp()
        #expect(try await store.read { try list.fault($0) } == nil)
    }

    /// A writer that never rests, and views that come and go meanwhile.
    @Test("Views that open while others write miss nothing", arguments: RouterSettings.seeds(3, from: 30_000))
    func viewsOpeningDuringWrites(seed: UInt64) async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        let writing = Task {
            var generator = PredicateGenerator(seed: seed)
            for _ in 0..<150 { try await RandomRows.commit(to: store, &generator) }
        }
        var generator = PredicateGenerator(seed: seed + 1)
        var lists: [ListOracle] = []
        for round in 0..<60 {
            var request = RowRequest()
            request.predicate = round % 2 == 0 ? nil : generator.predicate(depth: 1)
            request.limit = round % 3 == 0 ? nil : 3
            let spec = ListSpec(RoutedStore.form, request, counts: true)
            lists.append(
                try await round % 4 < 2 ? ListOracle(spec, engine) : ListOracle(spec, beside: engine))
            // Some go again.
            if round % 5 == 4 { lists.removeFirst() }
            await Task.yield()
        }
        try await writing.value
        await engine.catchUp()
        let faults = try await store.read { [lists] db in try lists.compactMap { try $0.fault(db) } }
        #expect(faults.isEmpty, "seed \(seed): \(faults.prefix(2))")
        let counters = await engine.counters
        #expect(counters.router.fallbacks < counters.router.changes / 2 + 10)
    }
}
