import Foundation
import GRDB
import PredicateTestSupport
import StorageCore
import StorageProjections
import Synchronization
import Testing

@testable import StorageLog
@testable import StorageSubscriptions

/// Whatever happens between registering and going live, a view misses nothing and takes nothing in twice.
@Suite struct HandshakeTests {
    /// A commit at each moment of opening a view, and again at each moment of taking a commit in.
    @Test func aCommitAtAnyMomentIsSeenOnce() async throws {
        var moments = 0
        for moment in 0..<40 {
            let folder = FileManager.default.temporaryDirectory.appendingPathComponent(
                "storagekit-\(UUID().uuidString)")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            defer { try? FileManager.default.removeItem(at: folder) }
            let store = try await RoutedStore.open(path: folder.appendingPathComponent("s.sqlite").path) { _ in }
            let seed = UInt64(moment + 1)
            var generator = PredicateGenerator(seed: seed)
            for _ in 0..<4 { try await RandomRows.commit(to: store, &generator) }
            let source = InterruptedSource(store) {
                do {
                    try RandomRows.commitNow(to: store, seed: seed * 77)
                } catch {
                    Issue.record(error)
                }
            }
            let engine = SubscriptionEngine(source)
            source.arm(moment)
            let request = RowRequest(orderings: [RowOrdering("i")], limit: 4, offset: 1)
            var lists = [try ListOracle(ListSpec(RoutedStore.form, RowRequest(), counts: true), engine)]
            lists.append(try ListOracle(ListSpec(RoutedStore.form, request, margin: 1), engine))
            try await RandomRows.commit(to: store, &generator, canFail: false)
            await engine.catchUp()
            let happened = source.hasHappened
            await engine.catchUp()
            let faults = try await store.read { [lists] db in try lists.compactMap { try $0.fault(db) } }
            #expect(faults.isEmpty, "moment \(moment): \(faults)")
            try await store.close()
            if !happened { break }
            moments += 1
        }
        // Beginning to follow, three reads with two moments before and behind each of them.
        #expect(moments >= 12)
    }

    /// An entity that somebody looked at, and nobody when its columns changed, is looked at anew.
    @Test func aColumnThatCameWhileNobodyLookedIsKnown() async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        _ = try ListOracle(ListSpec(RoutedStore.form, RowRequest()), engine)
        while await engine.nodeCount > 0 { await Task.yield() }
        _ = try await store.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "ALTER TABLE rows ADD COLUMN extra INTEGER")
            try db.execute(sql: "INSERT INTO rows(id, extra) VALUES ('a', 1), ('b', 2)")
        }
        let entity = try await store.withWriter { writer, _ in writer.catalog.entity(named: "rows") }
        let form = RowForm<StorageValue>(table: TableShape(try #require(entity))) { statement in
            RowReader(statement: statement).value(at: 0)
        }
        let spec = ListSpec(form, RowRequest(predicate: .comparison(column: "extra", .equal, .value(1))))
        let told = Mutex<[StorageValue]>([])
        let handle = try engine.now { engine in
            try engine.add(
                ListNode(spec), Outlet { update in told.withLock { update.difference.apply(to: &$0) } })
        }
        #expect(told.withLock { $0 } == ["a"])
        _ = try await store.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "UPDATE rows SET extra = 1 WHERE id = 'b'")
        }
        await engine.catchUp()
        #expect(told.withLock { $0 } == ["a", "b"])
        #expect(await engine.counters.router.fallbacks == 0)
        withExtendedLifetime(handle) {}
    }

    /// A writer that never rests, and views that come and go meanwhile.
    @Test(arguments: RouterSettings.seeds(3, from: 30_000))
    func viewsThatComeWhileOthersWriteMissNothing(seed: UInt64) async throws {
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
            lists.append(try ListOracle(ListSpec(RoutedStore.form, request, counts: true), engine))
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
