/// The decimal digits of a number without zeros at either end, and their power of ten: `0.0120` and `12e-3` have the same.
struct SignificantDigits: Equatable {
    private let isNegative: Bool
    /// ASCII digits, none of them for zero.
    private let digits: ArraySlice<UInt8>
    /// The power of ten of the last digit.
    private let exponent: Int

    /// - Parameter text: A number as JSON or C writes it.
    /// - Complexity: One pass over the text.
    init?(_ text: String) {
        var (all, point, power): ([UInt8], Int, Int) = ([], 0, 0)
        var hasPoint = false
        let parts = text.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
        for byte in parts[0] {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                all.append(byte)
                if hasPoint { point += 1 }
            case UInt8(ascii: "."): hasPoint = true
            case UInt8(ascii: "-"): continue
            default: return nil
            }
        }
        isNegative = text.utf8.first == UInt8(ascii: "-")
        let zero = UInt8(ascii: "0")
        guard let last = all.lastIndex(where: { $0 != zero }) else {
            (digits, exponent) = ([], 0)
            return
        }
        if parts.count == 2 {
            // Far beyond what a double holds, and far from what overflows.
            guard let given = Int(Substring(parts[1])), abs(given / 2) < 1 << 40 else { return nil }
            power = given
        }
        digits = all[...last].drop { $0 == zero }
        exponent = power - point + (all.count - 1 - last)
    }

    var count: Int { digits.count }

    /// The number, if it is whole and fits.
    var integer: Int64? {
        guard exponent >= 0, digits.count + exponent <= 19 else { return nil }
        let zeros = String(repeating: "0", count: exponent)
        return Int64("\(isNegative ? "-" : "")0\(String(decoding: digits, as: UTF8.self))\(zeros)")
    }
}
