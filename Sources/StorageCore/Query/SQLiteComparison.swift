internal import Foundation

/// SQLite's order of values, and the conversions before a comparison.
///
/// The rules are those of "Datatypes In SQLite", sections 3 and 4; the conversions follow SQLite 3.40, whose numbers
/// go through an extended precision of 80 bits where the processor has it.
enum SQLiteComparison {
    /// Negative, zero or positive if `left` sorts before, equal to or after `right`. NULL equals NULL and sorts first.
    static func order(_ left: StorageValue, _ right: StorageValue, by collation: RowPredicate.Collation) -> Int {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.real(let a), .real(let b)): a < b ? -1 : a > b ? 1 : 0
        case (.integer(let a), .real(let b)): order(a, b)
        case (.real(let a), .integer(let b)): -order(b, a)
        case (.text(let a), .text(let b)): order(a, b, by: collation)
        case (.blob(let a), .blob(let b)):
            a.withUnsafeBytes { a in b.withUnsafeBytes { b in bytes(a, b) } }
        default: rank(left) - rank(right)
        }
    }

    private static func rank(_ value: StorageValue) -> Int {
        switch value {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .blob: 3
        }
    }

    private static func order(_ integer: Int64, _ real: Double) -> Int {
        if real >= 0x1p63 { return -1 }
        if real < -0x1p63 { return 1 }
        let whole = Int64(real)
        if integer != whole { return integer < whole ? -1 : 1 }
        let rest = real - Double(whole)
        return rest > 0 ? -1 : rest < 0 ? 1 : 0
    }

    private static func order(_ left: String, _ right: String, by collation: RowPredicate.Collation) -> Int {
        var (left, right) = (left, right)
        return left.withUTF8 { a in
            right.withUTF8 { b in
                switch collation {
                case .binary: bytes(UnsafeRawBufferPointer(a), UnsafeRawBufferPointer(b))
                case .noCase: folded(a, b)
                case .trimmed: bytes(trimmed(a), trimmed(b))
                }
            }
        }
    }

    private static func bytes(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        let count = min(left.count, right.count)
        for index in 0..<count where left[index] != right[index] { return left[index] < right[index] ? -1 : 1 }
        return left.count - right.count
    }

    private static func folded(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Int {
        for (a, b) in zip(left, right) {
            let (a, b) = (lowercased(a), lowercased(b))
            if a != b { return a < b ? -1 : 1 }
        }
        return left.count - right.count
    }

    static func lowercased(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 32 : byte }

    private static func trimmed(_ text: UnsafeBufferPointer<UInt8>) -> UnsafeRawBufferPointer {
        let end = text.lastIndex { $0 != 0x20 }.map { $0 + 1 } ?? 0
        return UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: text[..<end]))
    }

    /// Converts two operands as SQLite does before it compares them.
    ///
    /// - Parameters:
    ///   - left: The affinity of the left operand's column.
    ///   - right: The affinity of the right operand's column; nil for a bound value, which has none.
    static func converted(
        _ a: StorageValue, of left: ColumnAffinity, with b: StorageValue, of right: ColumnAffinity?
    ) -> (StorageValue, StorageValue) {
        let usesNumbers = left.isNumeric || (right?.isNumeric ?? false)
        if usesNumbers { return (SQLiteNumber.number(a), SQLiteNumber.number(b)) }
        // Two columns without numeric affinity aren't converted; a bound value is converted by its column's affinity.
        guard right == nil, left == .text else { return (a, b) }
        switch (a, b) {
        case (.text, _), (_, .text): return (SQLiteNumber.text(a), SQLiteNumber.text(b))
        default: return (a, b)
        }
    }
}
