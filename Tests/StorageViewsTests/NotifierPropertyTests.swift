import PredicateTestSupport
import StorageCore
import Testing

@testable import StorageLog
@testable import StorageViews

/// Every filter reports exactly the changes that it is for, each with the values that the tables have: checked against what the
/// tables before and after differ in, after random transactions of which some are rolled back.
@Suite struct NotifierPropertyTests {
    @Test("A filter delivers what it is for", arguments: RouterSettings.seeds(20, from: 20_000))
    func filters(seed: UInt64) async throws {
        var generator = PredicateGenerator(seed: seed)
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(QuietSource(store))
        for _ in 0..<6 { try await RandomRows.commit(to: store, &generator) }
        var oracles: [NotifierOracle] = []
        for place in 0..<12 { oracles.append(try Self.oracle(place, engine, &generator)) }
        var before = try await Self.rows(store)
        for round in 0..<25 {
            try await RandomRows.commit(to: store, &generator)
            // Several commits may come together.
            if Int.random(in: 0..<4, using: &generator) == 0 { continue }
            await engine.catchUp()
            let after = try await Self.rows(store)
            let faults = oracles.compactMap { $0.fault(before, after) }
            #expect(faults.isEmpty, "seed \(seed), round \(round): \(faults.prefix(2).joined(separator: "\n"))")
            if !faults.isEmpty { return }
            before = after
        }
        #expect(await engine.counters.reloads == 0)
    }

    private static func rows(_ store: StorageEngine) async throws -> [String: [StorageValue]] {
        try await store.withWriter { writer, _ in try RoutedStore.rows(writer.database) }
    }

    private static func oracle(
        _ place: Int, _ engine: SubscriptionEngine, _ generator: inout PredicateGenerator
    ) throws -> NotifierOracle {
        func some(_ count: Int) -> [Int] {
            (0..<count).map { _ in Int.random(in: RoutedStore.columns.indices, using: &generator) }
        }
        switch place {
        case 0: return try NotifierOracle(.all, .all, engine)
        case 1:
            let accepts: @Sendable (ChangeEvent) -> Bool = { event in
                if case .text(let key)? = event.id { key.hasSuffix("1") } else { false }
            }
            return try NotifierOracle(.custom(accepts), .custom, engine)
        case 2, 3:
            let keys = (0..<place).map { _ in
                StorageValue.text("k\(Int.random(in: 0..<RandomRows.keys, using: &generator))")
            }
            return try NotifierOracle(.rowIds(keys), .ids(keys), engine)
        case 4, 5:
            let places = some(place - 2)
            return try NotifierOracle(.affectsFields(places.map { RoutedStore.columns[$0] }), .fields(places), engine)
        default:
            let predicate = generator.predicate(depth: place % 3)
            let shown = place % 2 == 0 ? nil : some(2)
            let filter = SubscriptionFilter.relevant(
                to: predicate, of: "rows", columns: shown?.map { RoutedStore.columns[$0] })
            let evaluator = try PredicateEvaluator(predicate, columns: RoutedStore.evaluated)
            return try NotifierOracle(filter, .query(evaluator, shown: shown), engine)
        }
    }
}
