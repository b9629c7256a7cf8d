import GRDB
import PredicateTestSupport
import StorageCore
import StorageProjections
import Testing

@testable import StorageLog
@testable import StorageSubscriptions

/// Live aggregates are what SQLite answers at their position, after every commit.
@Suite struct AggregatePropertyTests {
    @Test(arguments: RouterSettings.seeds(40, from: 20_000))
    func aggregatesAreWhatTheQueryAnswers(seed: UInt64) async throws {
        var generator = PredicateGenerator(seed: seed)
        let store = try await RoutedStore.open { _ in }
        let engine = SubscriptionEngine(LiveSource(store))
        for _ in 0..<6 { try await RandomRows.commit(to: store, &generator) }
        var views: [AggregateOracle] = []
        for place in 0..<8 { views.append(try AggregateOracle(Self.spec(place, &generator), engine)) }
        for round in 0..<16 {
            try await RandomRows.commit(to: store, &generator)
            // Several commits may come together.
            if Int.random(in: 0..<4, using: &generator) == 0 { continue }
            await engine.catchUp()
            let faults = try await store.read { [views] db in try views.compactMap { try $0.fault(db) } }
            #expect(faults.isEmpty, "seed \(seed), round \(round): \(faults.prefix(2).joined(separator: "\n"))")
            if !faults.isEmpty { return }
        }
        #expect(views.contains { $0.steps > 0 })
    }

    private static func spec(_ place: Int, _ generator: inout PredicateGenerator) -> AggregateSpec {
        var request = RowRequest()
        if place % 3 > 0 { request.predicate = generator.predicate(depth: place % 3) }
        if place == 7 {
            request.orderings = [generator.ordering()]
            request.limit = Int.random(in: 0...6, using: &generator)
            request.offset = Int.random(in: 0...3, using: &generator)
        }
        let columns = RoutedStore.columns
        let functions: [AggregateTerm.Function] = [.count, .distinctCount, .sum, .average, .minimum, .maximum]
        var terms = [AggregateTerm(.count)]
        if place != 1 {
            for _ in 0..<4 {
                terms.append(
                    AggregateTerm(functions.randomElement(using: &generator)!, columns.randomElement(using: &generator))
                )
            }
        }
        let groups = (0..<place % 3).map { _ in columns.dropFirst().randomElement(using: &generator)! }
        var spec = AggregateSpec(ListOracle.table, request, groups: Array(Set(groups)).sorted(), terms: terms)
        spec.extremeCount = Int.random(in: 1...4, using: &generator)
        return spec
    }

    /// Nothing is left of numbers that came and went, however large they were.
    @Test(arguments: RouterSettings.seeds(10, from: 21_000))
    func aSumOfRealsIsExact(seed: UInt64) {
        var generator = PredicateGenerator(seed: seed)
        var sum = ExactSum()
        var there: [Double] = []
        for step in 0..<600 {
            if there.count > 30 || !there.isEmpty && generator.next() % 3 == 0 {
                sum.remove(there.remove(at: Int.random(in: there.indices, using: &generator)))
            } else {
                let number = Self.number(&generator, isNear: seed % 2 == 0)
                there.append(number)
                sum.add(number)
            }
            let wanted = Partials.sum(there)
            #expect(sum.value == wanted, "seed \(seed), step \(step): \(there)")
            if sum.value != wanted { return }
        }
        for number in there { sum.remove(number) }
        #expect(sum.value == 0)
    }

    private static func number(_ generator: inout PredicateGenerator, isNear: Bool) -> Double {
        switch generator.next() % (isNear ? 2 : 4) {
        case 0: Double(Int.random(in: -1_000...1_000, using: &generator)) / 8
        // Halves of the last bit of others, so that it matters how they are rounded.
        case 1: [1, 0x1p-53, -0x1p-53, 0x1p-54, 0x1p-106, 1 + 0x1p-52].randomElement(using: &generator)!
        case 2: [.leastNonzeroMagnitude, -.leastNormalMagnitude, 0x1p-1030, 0].randomElement(using: &generator)!
        default:
            Double(
                sign: generator.next() % 2 == 0 ? .plus : .minus,
                exponent: Int.random(in: -1_074...1_000, using: &generator),
                significand: Double.random(in: 1..<2, using: &generator))
        }
    }

    @Test func aSumBeyondTheDoublesIsInfinite() {
        var sum = ExactSum()
        for _ in 0..<3 { sum.add(.greatestFiniteMagnitude) }
        #expect(sum.value == .infinity)
        sum.remove(.greatestFiniteMagnitude)
        sum.add(-.greatestFiniteMagnitude)
        #expect(sum.value == .greatestFiniteMagnitude)
        sum.add(Int128.max)
        sum.add(-.greatestFiniteMagnitude)
        #expect(sum.value == 0x1p127)
        sum.add(.infinity)
        #expect(sum.value == .infinity)
        sum.add(-.infinity)
        #expect(sum.value == nil)
    }
}
