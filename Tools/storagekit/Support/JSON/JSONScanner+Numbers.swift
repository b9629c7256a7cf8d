extension JSONScanner {
    /// The powers of ten that a double holds exactly.
    private static let exactPowersOfTen: [Double] = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19,
        1e20, 1e21, 1e22,
    ]

    /// Reads the number at `position`.
    mutating func number() throws(InputError) -> HistoryValue {
        let start = position
        let isNegative = base[position] == UInt8(ascii: "-")
        if isNegative { position += 1 }

        var mantissa = DecimalDigits()
        let wholeStart = position
        takeDigits(&mantissa)
        guard position > wholeStart else { throw fail("a number needs digits here", Self.numberRemedy) }
        guard position - wholeStart == 1 || base[wholeStart] != UInt8(ascii: "0") else {
            throw fail(
                "a number can't begin with 0", "Remove the leading zeros, or put the value in quotes.", at: wholeStart)
        }

        var isReal = false
        var exponent = 0
        if position < end, base[position] == UInt8(ascii: ".") {
            isReal = true
            position += 1
            let fractionStart = position
            takeDigits(&mantissa)
            guard position > fractionStart else {
                throw fail("a number needs digits after the point", Self.numberRemedy)
            }
            exponent = fractionStart - position
        }
        if position < end, base[position] | 0x20 == UInt8(ascii: "e") {
            isReal = true
            exponent += try takeExponent()
        }
        if isReal { return .real(try real(mantissa, exponent: exponent, isNegative: isNegative, from: start)) }
        return try integer(mantissa, isNegative, from: start)
    }

    private static let numberRemedy = "Numbers look like 12, -0.5 or 1e3."

    @inline(__always)
    private mutating func takeDigits(_ digits: inout DecimalDigits) {
        while position < end {
            let digit = base[position] &- UInt8(ascii: "0")
            guard digit < 10 else { return }
            digits.append(digit)
            position += 1
        }
    }

    private mutating func takeExponent() throws(InputError) -> Int {
        position += 1
        var isNegative = false
        if position < end, base[position] == UInt8(ascii: "+") || base[position] == UInt8(ascii: "-") {
            isNegative = base[position] == UInt8(ascii: "-")
            position += 1
        }
        let start = position
        var exponent = 0
        while position < end, case let digit = base[position] &- UInt8(ascii: "0"), digit < 10 {
            // Beyond this the result is zero or infinite in any case; the slow path reads the source again.
            if exponent < 100_000_000 { exponent = exponent * 10 + Int(digit) }
            position += 1
        }
        guard position > start else { throw fail("a number needs digits after the e", Self.numberRemedy) }
        return isNegative ? -exponent : exponent
    }

    private func integer(_ digits: DecimalDigits, _ isNegative: Bool, from start: Int) throws(InputError)
        -> HistoryValue
    {
        let limit = UInt64(Int64.max) + (isNegative ? 1 : 0)
        guard digits.isExact, digits.value <= limit else {
            throw fail(
                "an integer must fit in 64 bits",
                "Put the value in quotes to keep it as text, or write it with .0 to store the nearest real.", at: start)
        }
        guard isNegative else { return .integer(Int64(digits.value)) }
        if digits.value == 0 { return .real(-0.0) }
        return .integer(Int64(truncatingIfNeeded: 0 &- digits.value))
    }

    /// The double nearest to the decimal number.
    ///
    /// If mantissa and power of ten are both exact doubles, one operation rounds correctly (Clinger 1990); otherwise
    /// the standard library converts the source, exactly and without regard to the locale.
    private func real(
        _ digits: DecimalDigits, exponent: Int, isNegative: Bool, from start: Int
    ) throws(InputError) -> Double {
        if digits.isExact, digits.value <= 1 << 53, abs(exponent) <= 22 {
            let mantissa = Double(digits.value)
            let power = Self.exactPowersOfTen[abs(exponent)]
            let magnitude = exponent < 0 ? mantissa / power : mantissa * power
            return isNegative ? -magnitude : magnitude
        }
        guard let value = Double(slice(start, position).string), value.isFinite else {
            throw fail(
                "this number is beyond the range of a real",
                "Put it in quotes to keep it as text, or write {\"$real\":\"Infinity\"}.",
                at: start)
        }
        guard value != 0 || digits.isZero else {
            throw fail(
                "this number is too near to 0 for a real", "Put it in quotes to keep it as text, or write 0.0.",
                at: start)
        }
        return value
    }
}

/// The digits of a decimal number, as far as they fit in 64 bits.
struct DecimalDigits {
    private(set) var value: UInt64 = 0
    /// False once digits didn't fit.
    private(set) var isExact = true

    var isZero: Bool { isExact && value == 0 }

    @inline(__always)
    mutating func append(_ digit: UInt8) {
        let (product, overflow) = value.multipliedReportingOverflow(by: 10)
        let (sum, carry) = product.addingReportingOverflow(UInt64(digit))
        if overflow || carry { isExact = false }
        value = sum
    }
}
