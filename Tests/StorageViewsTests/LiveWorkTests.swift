import GRDB
import PredicateTestSupport
import StorageCore
import StorageEntities
import TestSupport
import Testing

@testable import StorageLog
@testable import StorageRouting
@testable import StorageViews

/// What a change costs is counted: it is the same however many views there are that it doesn't concern, and however
/// large the table is.
@Suite struct LiveWorkTests {
    private struct Work: Equatable {
        var steps = 0
        var statements = 0
        var wakes = 0
        var evaluations = 0
        var reloads = 0
    }

    /// The work of ten changes that concern one of `views` pages of a table with `rows` rows.
    private func work(views: Int, rows: Int) async throws -> Work {
        let store = try await RoutedStore.open { _ in }
        _ = try await store.commit(CommitMetadata()) { _, db in
            try db.execute(
                sql: """
                    WITH RECURSIVE n(x) AS (SELECT 0 UNION ALL SELECT x + 1 FROM n WHERE x < \(rows - 1))
                    INSERT INTO rows(id, i, t) SELECT printf('k%07d', x), x % 10, 'v' || x FROM n
                    """)
        }
        let engine = SubscriptionEngine(LiveSource(store))
        var lists: [ListOracle] = []
        for view in 0..<views {
            // The first one shows the beginning of the table; the others show rows that aren't there.
            let predicate: RowPredicate =
                view == 0
                ? .comparison(column: "i", .less, .value(.integer(5)))
                : .comparison(column: "t", .equal, .value(.text("other \(view)")))
            let request = RowRequest(predicate: predicate, orderings: [RowOrdering("id")], limit: 10)
            lists.append(try ListOracle(ListSpec(RoutedStore.form, request, margin: 20), engine))
        }
        let before = await engine.counters
        for number in 0..<10 {
            _ = try await store.commit(CommitMetadata()) { _, db in
                switch number % 3 {
                case 0: try db.execute(sql: "UPDATE rows SET t = 'w\(number)' WHERE id = 'k0000001'")
                case 1: try db.execute(sql: "DELETE FROM rows WHERE id = 'k000000\(number)'")
                default: try db.execute(sql: "INSERT INTO rows(id, i) VALUES ('k000000\(number)a', 1)")
                }
            }
            await engine.catchUp()
        }
        let after = await engine.counters
        let faults = try await store.read { [lists] db in try lists.prefix(2).compactMap { try $0.fault(db) } }
        #expect(faults.isEmpty)
        return Work(
            steps: after.steps - before.steps, statements: after.statements - before.statements,
            wakes: after.wakeups - before.wakeups,
            evaluations: after.router.evaluations - before.router.evaluations,
            reloads: after.reloads - before.reloads)
    }

    @Test("A change costs the same among many views and in large tables")
    func constantCostOfChange() async throws {
        let small = try await work(views: 100, rows: 1_000)
        // Three of the ten commits update a row that isn't there any more, and one takes a row away that no view has.
        #expect(small.steps == 6)
        #expect(small.reloads == 0)
        #expect(small.wakes >= 5)
        #expect(small.statements <= 20)
        // 100,000 and 1,000,000 where the suite runs at twenty times its everyday size.
        let views = testScale > 1 ? min(100_000, Int(5_000 * testScale)) : 2_000
        let rows = testScale > 1 ? min(1_000_000, Int(50_000 * testScale)) : 20_000
        #expect(try await work(views: views, rows: 1_000) == small)
        #expect(try await work(views: 100, rows: rows) == small)
    }
}
