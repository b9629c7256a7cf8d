import GRDB
import PredicateTestSupport
import StorageCore
import StorageProjections
import Testing

@testable import StorageLog
@testable import StorageSubscriptions

/// A live list is what SQLite answers at its position, after every commit, and every difference that it tells leads from
/// the list before to the list after.
@Suite struct ListPropertyTests {
    @Test(arguments: RouterSettings.seeds(24, from: 10_000))
    func aListIsWhatTheQueryFinds(seed: UInt64) async throws {
        var generator = PredicateGenerator(seed: seed)
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        for _ in 0..<6 { try await RandomRows.commit(to: store, &generator) }
        var lists: [ListOracle] = []
        for place in 0..<12 { lists.append(try ListOracle(Self.spec(place, &generator), engine)) }
        for round in 0..<25 {
            try await RandomRows.commit(to: store, &generator)
            // Several commits may come together.
            if Int.random(in: 0..<4, using: &generator) == 0 { continue }
            await engine.catchUp()
            if Int.random(in: 0..<5, using: &generator) == 0, let list = lists.randomElement(using: &generator),
                list.spec.request.limit != nil
            {
                try list.move(to: Int.random(in: 0..<14, using: &generator))
            }
            let faults = try await store.read { [lists] db in try lists.compactMap { try $0.fault(db) } }
            #expect(faults.isEmpty, "seed \(seed), round \(round): \(faults.prefix(2).joined(separator: "\n"))")
            if !faults.isEmpty { return }
        }
    }

    private static func spec(_ place: Int, _ generator: inout PredicateGenerator) -> ListSpec<ListOracle.Row> {
        var request = RowRequest()
        if place % 3 > 0 { request.predicate = generator.predicate(depth: place % 3) }
        request.orderings = (0..<Int.random(in: 0...2, using: &generator)).map { _ in generator.ordering() }
        if place % 4 > 0 {
            request.limit = Int.random(in: 0...6, using: &generator)
            if place % 4 > 1 { request.offset = Int.random(in: 0...8, using: &generator) }
        }
        return ListSpec(
            ListOracle.form, request, counts: place % 2 == 0, margin: Int.random(in: 0...3, using: &generator),
            isAnchored: place % 4 == 3)
    }
}
