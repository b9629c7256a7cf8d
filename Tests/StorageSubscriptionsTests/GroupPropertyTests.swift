import GRDB
import PredicateTestSupport
import StorageCore
import StorageProjections
import Testing

@testable import StorageLog
@testable import StorageSubscriptions

/// A grouped list is what grouping the query's answer gives, after every commit, and every difference that it tells leads
/// from the list before to the list after.
@Suite struct GroupPropertyTests {
    @Test(arguments: RouterSettings.seeds(40, from: 30_000))
    func groupsAreThoseOfTheRows(seed: UInt64) async throws {
        var generator = PredicateGenerator(seed: seed)
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        for _ in 0..<6 { try await RandomRows.commit(to: store, &generator) }
        var views: [GroupOracle] = []
        for place in 0..<8 { views.append(try GroupOracle(Self.spec(place, &generator), engine)) }
        for round in 0..<16 {
            try await RandomRows.commit(to: store, &generator)
            // Several commits may come together.
            if Int.random(in: 0..<4, using: &generator) == 0 { continue }
            await engine.catchUp()
            let faults = try await store.read { [views] db in try views.compactMap { try $0.fault(db) } }
            #expect(faults.isEmpty, "seed \(seed), round \(round): \(faults.prefix(2).joined(separator: "\n"))")
            if !faults.isEmpty { return }
        }
    }

    /// A row that changes its group moves there, and a group that has more rows than before moves up.
    @Test func rowsAndGroupsMove() async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        _ = try await store.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "INSERT INTO rows(id, i) VALUES ('a', 1), ('b', 1), ('c', 1), ('d', 2), ('e', 2)")
        }
        let spec = GroupOracle.Spec(ListOracle.form, RowRequest(), order: .count(ascending: false)) { $0[1] }
        let view = try GroupOracle(spec, engine)
        _ = try await store.commit(CommitMetadata()) { _, db in
            try db.execute(sql: "UPDATE rows SET i = 2 WHERE id = 'b'")
        }
        await engine.catchUp()
        #expect(view.moves == 1)
        #expect(view.sectionMoves == 1)
        let fault = try await store.read { try view.fault($0) }
        #expect(fault == nil)
    }

    private static func spec(_ place: Int, _ generator: inout PredicateGenerator) -> GroupOracle.Spec {
        var request = RowRequest()
        if place % 3 > 0 { request.predicate = generator.predicate(depth: place % 3) }
        request.orderings = (0..<Int.random(in: 0...2, using: &generator)).map { _ in generator.ordering() }
        let column = Int.random(in: 1..<RoutedStore.columns.count, using: &generator)
        let count = Int64.random(in: 1...4, using: &generator)
        var spec = GroupOracle.Spec(
            ListOracle.form, request, order: order(place),
            limit: place % 2 == 0 ? nil : Int.random(in: 0...3, using: &generator)
        ) { row in
            // Computed, so that many rows share a group; or as it is.
            place % 4 == 3 ? row[column] : .integer(Int64(row[column].description.utf8.count) % count)
        }
        spec.keepsEmptyGroups = place % 5 == 1
        if place == 4 { spec.fixedKeys = [.integer(0), .integer(7)] }
        return spec
    }

    private static func order(_ place: Int) -> GroupOrder<StorageValue> {
        switch place % 4 {
        case 0: .count(ascending: false)
        case 1: .count(ascending: true)
        case 2: .custom { $0.description > $1.description }
        default: .custom { $0.description < $1.description }
        }
    }

    @Test func groupsOfAQueryWithALimitAreRefused() async throws {
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        let spec = GroupOracle.Spec(ListOracle.form, RowRequest(limit: 3), order: .count(ascending: true)) { $0[1] }
        #expect(throws: StorageError.self) { _ = try GroupOracle(spec, engine) }
    }
}
