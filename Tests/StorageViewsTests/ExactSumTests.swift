import PredicateTestSupport
import Testing

@testable import StorageViews

/// Sums of reals are exact, whatever came and went.
@Suite struct ExactSumTests {
    /// Nothing is left of numbers that came and went, however large they were.
    @Test("A sum of reals is exact", arguments: RouterSettings.seeds(10, from: 21_000))
    func sumOfReals(seed: UInt64) {
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

    @Test("A sum beyond the doubles is infinite")
    func infiniteSum() {
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
