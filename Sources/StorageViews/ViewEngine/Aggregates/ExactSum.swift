/// A sum of doubles without any rounding, so that removing an added value leaves no residue.
///
/// A double is a whole number times 2⁻¹⁰⁷⁴. The sum is one long number in such units, in 64-bit digits of 32
/// significant bits each, so that carries can wait: adding touches three digits. The value is rounded once, when it is
/// read. After R. Neal, "Fast Exact Summation Using Small and Large Superaccumulators" (2015).
struct ExactSum {
    /// Lowest first. Two digits below the smallest double stay zero and save a case when it is rounded.
    private var digits = [Int64](repeating: 0, count: 71)
    private var additions = 0
    private var positiveInfinities = 0
    private var negativeInfinities = 0

    /// What a bit of the lowest digit counts, as a power of two.
    private static let unit = -1_138

    mutating func add(_ value: Double) { add(value, sign: 1) }

    /// Removes a value that was added.
    mutating func remove(_ value: Double) { add(value, sign: -1) }

    private mutating func add(_ value: Double, sign: Int64) {
        let exponent = Int(value.exponentBitPattern)
        guard exponent < 0x7FF else {
            if value > 0 { positiveInfinities += Int(sign) } else { negativeInfinities += Int(sign) }
            return
        }
        let significand = value.significandBitPattern | (exponent == 0 ? 0 : 1 << 52)
        add(
            UInt128(significand), at: max(exponent, 1) - 1 + 64,
            sign: value.sign == .minus ? -sign : sign)
    }

    mutating func add(_ integer: Int128) { add(integer.magnitude, at: -Self.unit, sign: integer < 0 ? -1 : 1) }

    private mutating func add(_ magnitude: UInt128, at bit: Int, sign: Int64) {
        let shift = UInt64(bit & 31)
        var index = bit >> 5
        var rest = magnitude
        while rest > 0 {
            let part = UInt64(truncatingIfNeeded: rest & 0xFFFF_FFFF) << shift
            digits[index] += sign * Int64(part & 0xFFFF_FFFF)
            digits[index + 1] += sign * Int64(part >> 32)
            index += 1
            rest >>= 32
        }
        additions += 1
        // Each has added less than three times 2³² to a digit.
        if additions == 1 << 28 { carry() }
    }

    /// Makes all digits but the last one small and positive.
    private mutating func carry() {
        for index in 0..<digits.count - 1 {
            let high = digits[index] >> 32
            digits[index] -= high << 32
            digits[index + 1] += high
        }
        additions = 0
    }

    /// The double that is nearest to the sum; nil if infinities of both signs are in it.
    var value: Double? {
        if positiveInfinities > 0 || negativeInfinities > 0 {
            guard positiveInfinities == 0 || negativeInfinities == 0 else { return nil }
            return positiveInfinities > 0 ? .infinity : -.infinity
        }
        var sum = self
        sum.carry()
        let isNegative = sum.digits[sum.digits.count - 1] < 0
        if isNegative {
            for index in sum.digits.indices { sum.digits[index] = -sum.digits[index] }
            sum.carry()
        }
        guard let top = sum.digits.lastIndex(where: { $0 != 0 }) else { return 0 }
        return sum.rounded(from: top, isNegative)
    }

    private func rounded(from top: Int, _ isNegative: Bool) -> Double {
        let leading = (0..<3).reduce(UInt128(0)) { $0 << 32 | UInt128(UInt64(digits[top - $1])) }
        let isMore = digits[..<(top - 2)].contains { $0 != 0 }
        let width = 128 - leading.leadingZeroBitCount
        let exponent = width - 1 + 32 * (top - 2) + Self.unit
        // Below the smallest normal double there are fewer bits, and the sum has none below the smallest of all.
        let kept = min(53, exponent + 1_075)
        let dropped = width - kept
        var significand = UInt64(leading >> UInt128(dropped))
        let rest = leading & (1 << UInt128(dropped) - 1)
        let half = UInt128(1) << UInt128(dropped - 1)
        if rest > half || rest == half && (isMore || significand & 1 == 1) { significand += 1 }
        return Double(
            sign: isNegative ? .minus : .plus, exponent: exponent - kept + 1, significand: Double(significand))
    }
}
