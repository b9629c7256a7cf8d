import PredicateTestSupport

/// A small table of rows in which any two values of different columns stand side by side somewhere, as far as they can.
///
/// Rows are built one by one: the first pair that is still missing is put in, then each other column gets the value that
/// makes up most missing pairs with those that stand; of some such rows the best is taken. After D. Cohen et al., "The
/// AETG System", 1997.
struct Pairwise: Sendable {
    struct Pair: Hashable, Sendable {
        let first: Int
        let firstValue: Int
        let second: Int
        let secondValue: Int
    }

    /// How many values each column has.
    let counts: [Int]
    /// Whether values can stand in one row; nil where a column has none yet, and then it must be possible to go on.
    let isPossible: @Sendable ([Int?]) -> Bool

    /// All pairs that can be.
    var pairs: [Pair] {
        var pairs: [Pair] = []
        for first in counts.indices {
            for second in counts.indices.dropFirst(first + 1) {
                for firstValue in 0..<counts[first] {
                    for secondValue in 0..<counts[second] {
                        var row = [Int?](repeating: nil, count: counts.count)
                        (row[first], row[second]) = (firstValue, secondValue)
                        guard isPossible(row) else { continue }
                        pairs.append(
                            Pair(first: first, firstValue: firstValue, second: second, secondValue: secondValue))
                    }
                }
            }
        }
        return pairs
    }

    static func pairs(in row: [Int]) -> [Pair] {
        row.indices.flatMap { first in
            row.indices.dropFirst(first + 1).map { second in
                Pair(first: first, firstValue: row[first], second: second, secondValue: row[second])
            }
        }
    }

    func rows(seed: UInt64 = 1, tries: Int = 6) -> [[Int]] {
        var generator = PredicateGenerator(seed: seed)
        let pairs = pairs
        var missing = Set(pairs)
        var rows: [[Int]] = []
        for pair in pairs where missing.contains(pair) {
            let candidates = (0..<tries).map { _ in row(with: pair, missing, &generator) }
            let weighed = candidates.map { row in (row, Self.pairs(in: row).count(where: missing.contains)) }
            guard let best = weighed.max(by: { $0.1 < $1.1 }) else { continue }
            missing.subtract(Self.pairs(in: best.0))
            rows.append(best.0)
        }
        return rows
    }

    private func row(with pair: Pair, _ missing: Set<Pair>, _ generator: inout PredicateGenerator) -> [Int] {
        var row = [Int?](repeating: nil, count: counts.count)
        (row[pair.first], row[pair.second]) = (pair.firstValue, pair.secondValue)
        for column in counts.indices.shuffled(using: &generator) where row[column] == nil {
            var best: (value: Int, gain: Int)?
            for value in (0..<counts[column]).shuffled(using: &generator) {
                row[column] = value
                guard isPossible(row) else { continue }
                let gain = row.enumerated().count { other, otherValue in
                    guard other != column, let otherValue else { return false }
                    return missing.contains(
                        other < column
                            ? Pair(first: other, firstValue: otherValue, second: column, secondValue: value)
                            : Pair(first: column, firstValue: value, second: other, secondValue: otherValue))
                }
                if gain > best?.gain ?? -1 { best = (value, gain) }
            }
            row[column] = best?.value
        }
        return row.map { $0 ?? 0 }
    }
}
