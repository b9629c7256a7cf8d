internal import Foundation
package import StorageCore
internal import TestSupport

/// Random rows and conditions, the same for the same seed, with the values that are apt to be treated differently.
package struct PredicateGenerator: RandomNumberGenerator {
    private var random: SplitMix64
    /// What is chosen before chance begins.
    private var choices: ArraySlice<UInt8> = []
    private let columns: [String]
    /// Values that come more often than others, so that conditions and rows meet.
    package var favourites: [StorageValue] = []

    /// - Parameter columns: The columns that conditions and orders are made of.
    package init(seed: UInt64, columns: [String] = SQLiteTable.declared.map(\.name)) {
        random = SplitMix64(seed: seed)
        self.columns = columns
    }

    /// What a fuzzer chooses, byte by byte.
    package init(choices: [UInt8]) {
        self.init(seed: 0)
        self.choices = choices[...]
    }

    package mutating func next() -> UInt64 {
        if let choice = choices.popFirst() { return UInt64(choice) &* 0x0101_0101_0101_0101 }
        return random.next()
    }

    private static let integers: [Int64] = [
        0, 1, -1, 5, 10, 12, 42, 255, -128, .max, .min, .max - 1, 1 << 53, (1 << 53) + 1, -(1 << 53) - 1,
        4_611_686_018_427_387_904,
    ]
    private static let reals: [Double] = [
        0.0, -0.0, 1.0, 5.0, 12.0, 1.5, -1.5, 0.1, 0.3, 1e15, 1e16, 123456789012345680, 1e300, -1e300, 1e-300,
        .leastNonzeroMagnitude,
        .infinity, -.infinity, 9223372036854775808, -9223372036854775808, 9007199254740992,
        2.0 / 3,
        0.00001234, 1e-4, 99999999999999.99, 3.14159265358979,
    ]
    private static let texts = [
        "", " ", "a", "A", "ab", "AB", "aB", "abc", "b", "Z", "z", "a ", "a  ", " a", "é", "É", "e\u{301}", "ß", "😀",
        "%", "_",
        "a%", "a_c", "a\\b", "5", "5.0", " 5 ", "5 ", "05", "+5", "-5", "5a", "12", "12.0", "1e3", "1E3", "1e", "1e+",
        "0x10",
        "1.5", "1.", ".5", ".", "-", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "9007199254740993", "1e400", "-1e400", "Inf", "nan", "0.1", "0.30000000000000004", "\t5\n", "true", "NULL",
        "123456789012345678901234567890", "0.000000000000000000000000000001",
    ]

    package mutating func value() -> StorageValue {
        if !favourites.isEmpty, next() % 4 > 0 { return pick(favourites) }
        return switch next() % 12 {
        case 0: .null
        case 1...3: .integer(Bool.random(using: &self) ? pick(Self.integers) : Int64.random(in: -20...20, using: &self))
        case 4, 5:
            .real(
                Bool.random(using: &self)
                    ? pick(Self.reals) : Double(Int64.random(in: -1000...1000, using: &self)) / 8)
        case 6...9: .text(Bool.random(using: &self) ? pick(Self.texts) : text())
        default: .blob(Data(pick(Self.texts).utf8))
        }
    }

    package mutating func text() -> String {
        String((0..<Int.random(in: 0...4, using: &self)).map { _ in pick(Array("aAbBcé_% 15")) })
    }

    package mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[Int(next() % UInt64(elements.count))]
    }

    /// Yes so often in a hundred times.
    package mutating func chance(_ percent: Int) -> Bool { next() % 100 < percent }

    package mutating func number(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &self) }

    package mutating func row() -> [StorageValue] { SQLiteTable.declared.map { _ in value() } }

    package mutating func column() -> String { pick(columns) }

    private mutating func collation() -> RowPredicate.Collation? {
        next() % 4 == 0 ? pick(RowPredicate.Collation.allCases) : nil
    }

    package mutating func ordering() -> RowOrdering {
        RowOrdering(column(), Bool.random(using: &self) ? .ascending : .descending, collation: collation())
    }

    package mutating func predicate(depth: Int) -> RowPredicate {
        switch next() % (depth > 0 ? 14 : 10) {
        case 0...2:
            .comparison(
                column: column(), pick(RowPredicate.Comparison.allCases), .value(value()), collation: collation())
        case 3, 4:
            .comparison(
                column: column(), pick(RowPredicate.Comparison.allCases), .column(column()), collation: collation())
        case 5: .isNull(column: column())
        case 6: .among(column: column(), (0..<Int.random(in: 0...4, using: &self)).map { _ in value() })
        case 7: .between(column: column(), value(), value())
        case 8: .like(column: column(), pattern: pick(Self.texts) + (Bool.random(using: &self) ? "%" : text()))
        case 9:
            switch next() % 5 {
            case 0: .contains(column(), pick(Self.texts))
            case 1: .hasPrefix(column(), text())
            case 2: .hasSuffix(column(), text())
            case 3: .like(column: column(), pattern: text() + "a\\" + text(), escape: pick(["\\", "a", "%", "_"]))
            default: .constant(pick([true, false, nil]))
            }
        case 10, 11: .all((0..<Int.random(in: 0...3, using: &self)).map { _ in predicate(depth: depth - 1) })
        case 12: .any((0..<Int.random(in: 0...3, using: &self)).map { _ in predicate(depth: depth - 1) })
        default: .not(predicate(depth: depth - 1))
        }
    }
}
