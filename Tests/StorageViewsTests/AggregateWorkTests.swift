import GRDB
import StorageCore
import StorageEntities
import Testing

@testable import StorageLog
@testable import StorageViews

/// What a change costs aggregates and groups doesn't grow with the number of rows: counted, not timed.
@Suite struct AggregateWorkTests {
    private struct Work: Equatable {
        var statements: [Int] = []
        var rowReads: [Int] = []
    }

    private static func fill(_ store: StorageEngine, _ count: Int) async throws {
        _ = try await store.commit(CommitMetadata()) { _, db in
            try db.execute(
                sql: """
                    WITH RECURSIVE number(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM number WHERE n + 1 < \(count))
                    INSERT INTO rows(id, i, r, t) SELECT printf('k%06d', n), n, n / 8.0, 'group ' || (n % 7) FROM number
                    """)
        }
    }

    private static let changes = [
        "UPDATE rows SET r = 1000.5 WHERE id = 'k000003'", "UPDATE rows SET t = 'group 1' WHERE id = 'k000003'",
        "DELETE FROM rows WHERE id = 'k000004'", "INSERT INTO rows(id, i, r, t) VALUES ('x', -1, 2.5, 'group 2')",
        "INSERT INTO rows(id, i, r, t) VALUES ('y', 3, 2.5, 'group 9')", "DELETE FROM rows WHERE id = 'y'",
    ]

    private func work(_ count: Int, _ open: (SubscriptionEngine) throws -> Any) async throws -> Work {
        let store = try await RoutedStore.open { _ in }
        try await Self.fill(store, count)
        let engine = SubscriptionEngine(LiveSource(store))
        let view = try open(engine)
        var work = Work()
        for change in Self.changes {
            let before = await engine.counters
            _ = try await store.commit(CommitMetadata()) { _, db in try db.execute(sql: change) }
            await engine.catchUp()
            let after = await engine.counters
            work.statements.append(after.statements - before.statements)
            work.rowReads.append(after.rowReads - before.rowReads)
            #expect(after.reloads == 0)
        }
        withExtendedLifetime(view) {}
        return work
    }

    private static let terms = [
        AggregateTerm(.count), AggregateTerm(.sum, "r"), AggregateTerm(.average, "i"), AggregateTerm(.minimum, "i"),
        AggregateTerm(.maximum, "r"), AggregateTerm(.distinctCount, "i"),
    ]

    @Test("Aggregates ask the database nothing", arguments: [[], ["t"]])
    func aggregatesUseNoStatements(groups: [String]) async throws {
        for count in [100, 3_000] {
            let work = try await work(count) {
                try AggregateOracle(
                    AggregateSpec(RoutedStore.shape, RowRequest(), groups: groups, terms: Self.terms), $0)
            }
            #expect(work.statements.allSatisfy { $0 == 0 }, "\(count): \(work)")
            #expect(work.rowReads.allSatisfy { $0 <= 1 }, "\(count): \(work)")
        }
    }

    @Test("Groups read the rows that arrive")
    func groupsReadArrivingRows() async throws {
        var works: [Work] = []
        for count in [100, 3_000] {
            works.append(
                try await work(count) {
                    try GroupOracle(
                        GroupOracle.Spec(
                            RoutedStore.form, RowRequest(orderings: [RowOrdering("i")]),
                            order: .count(ascending: false),
                            limit: 3
                        ) { $0[2] }, $0)
                })
        }
        // The row that changed, and one that moved up.
        #expect(works[0].statements.allSatisfy { $0 <= 2 }, "\(works[0])")
        #expect(works[0] == works[1])
    }

    /// One statement makes up for many values that were the least or the greatest.
    @Test("Extremes are read in portions")
    func extremesAreReadInPortions() async throws {
        let store = try await RoutedStore.open { _ in }
        try await Self.fill(store, 500)
        let engine = SubscriptionEngine(LiveSource(store))
        let terms = [AggregateTerm(.minimum, "i"), AggregateTerm(.maximum, "i")]
        let view = try AggregateOracle(AggregateSpec(RoutedStore.shape, RowRequest(), terms: terms), engine)
        let before = await engine.counters
        for number in 0..<100 {
            _ = try await store.commit(CommitMetadata()) { _, db in
                try db.execute(sql: "DELETE FROM rows WHERE i IN (\(number), \(499 - number))")
            }
            await engine.catchUp()
            let fault = try await store.read { try view.fault($0) }
            #expect(fault == nil)
        }
        let after = await engine.counters
        #expect(after.reloads == 0)
        #expect((2...8).contains(after.statements - before.statements), "\(after)")
    }
}
