// The accepted texts are those that SQLite and GRDB write and read: a day, or a day and a time to the minute, the second or
// finer, with a space or a T between them, and a zone or none, which is UTC. All digits of a fraction count: the date is the
// double nearest to the decimal number; of two equally near ones, the even one.

extension DateText {
    /// The seconds since 2001-01-01 00:00:00 UTC; nil for a text that isn't a date.
    static func seconds(_ bytes: UnsafeRawBufferPointer) -> Double? {
        var input = DigitReader(bytes: bytes)
        guard let year = input.number(4), input.skip("-"), let month = input.number(2), input.skip("-"),
            let day = input.number(2), (1...12).contains(month), (1...days(in: month, of: year)).contains(day)
        else { return nil }
        var whole = (days(year: year, month: month, day: day) - daysBefore2001) * secondsPerDay
        guard !input.isAtEnd else { return Double(whole) }
        guard input.skip(" ") || input.skip("T"), let hour = input.number(2), input.skip(":"),
            let minute = input.number(2), hour < 24, minute < 60
        else { return nil }
        whole += hour * 3_600 + minute * 60
        var fraction = bytes[0..<0]
        if input.skip(":") {
            guard let second = input.number(2), second < 60 else { return nil }
            whole += second
            if input.skip(".") {
                fraction = input.digits()
                if fraction.isEmpty { return nil }
            }
        }
        guard let zone = input.zone(), input.isAtEnd, let seconds = seconds(whole - zone, fraction), covers(seconds)
        else { return nil }
        return seconds
    }

    static func seconds(_ text: String) -> Double? {
        var text = text
        return text.withUTF8 { seconds(UnsafeRawBufferPointer($0)) }
    }

    private static func days(in month: Int, of year: Int) -> Int {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return switch month {
        case 2: isLeap ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// The day from the beginning of the year 0: `days_from_civil` of Howard Hinnant's algorithms (see ``civil(_:)``).
    private static func days(year: Int, month: Int, day: Int) -> Int {
        let yearFromMarch = (month <= 2 ? year - 1 : year) + 400
        let (era, yearOfEra) = yearFromMarch.quotientAndRemainder(dividingBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return (era - 1) * 146_097 + dayOfEra + 60
    }

    /// The double nearest to a number of seconds and a fraction in decimal digits.
    private static func seconds(_ whole: Int, _ digits: Slice<UnsafeRawBufferPointer>) -> Double? {
        var fraction: UInt64 = 0
        var power: UInt64 = 1
        // Nineteen digits fit 64 bits.
        guard digits.count <= 19, !(-1...0).contains(whole) else { return slowly(whole, Array(digits)) }
        for digit in digits {
            fraction = fraction * 10 + UInt64(digit - UInt8(ascii: "0"))
            power *= 10
        }
        guard fraction > 0 else { return Double(whole) }
        // Doubles are rounded by their magnitude, so for dates before 2001 the magnitude is rounded.
        let isBefore = whole < 0
        let magnitude = UInt64(isBefore ? -whole - 1 : whole)
        if isBefore { fraction = power - fraction }
        let bits = 52 - (63 - magnitude.leadingZeroBitCount)
        let part =
            fraction.leadingZeroBitCount >= bits
            ? rounded(fraction << bits, by: power)
            : UInt64(rounded(UInt128(fraction) << bits, by: UInt128(power)))
        let seconds = Double(magnitude << bits + part) / Double(1 << bits)
        return isBefore ? -seconds : seconds
    }

    /// The rounded quotient; ties go to the even one.
    @inline(__always)
    private static func rounded<Wide: FixedWidthInteger & UnsignedInteger>(_ number: Wide, by divisor: Wide) -> Wide {
        let (quotient, rest) = number.quotientAndRemainder(dividingBy: divisor)
        let half = divisor / 2
        return rest > half || (rest == half && quotient & 1 == 1) ? quotient + 1 : quotient
    }

    /// For dates near 2001-01-01, or with more digits than any date needs.
    private static func slowly(_ whole: Int, _ digits: [UInt8]) -> Double? {
        guard digits.contains(where: { $0 != UInt8(ascii: "0") }) else { return Double(whole) }
        var digits = digits
        if whole < 0 { complement(&digits) }
        let number = Double("\(whole < 0 ? -whole - 1 : whole)." + String(decoding: digits, as: UTF8.self))
        return whole < 0 ? number.map { -$0 } : number
    }
}

/// Reads numbers in decimal digits.
private struct DigitReader {
    let bytes: UnsafeRawBufferPointer
    var offset = 0

    init(bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var isAtEnd: Bool { offset == bytes.count }

    mutating func skip(_ sign: Unicode.Scalar) -> Bool {
        guard offset < bytes.count, bytes[offset] == UInt8(ascii: sign) else { return false }
        offset += 1
        return true
    }

    mutating func number(_ count: Int) -> Int? {
        guard bytes.count - offset >= count else { return nil }
        var number = 0
        for index in offset..<offset + count {
            let digit = bytes[index] &- UInt8(ascii: "0")
            guard digit < 10 else { return nil }
            number = number * 10 + Int(digit)
        }
        offset += count
        return number
    }

    /// All digits from the current offset on.
    mutating func digits() -> Slice<UnsafeRawBufferPointer> {
        let start = offset
        while offset < bytes.count, bytes[offset] &- UInt8(ascii: "0") < 10 { offset += 1 }
        return bytes[start..<offset]
    }

    /// The zone's offset from UTC in seconds: `Z`, `+02:00`, or none.
    mutating func zone() -> Int? {
        if isAtEnd || skip("Z") { return 0 }
        let isAhead = skip("+")
        guard isAhead || skip("-"), let hour = number(2), skip(":"), let minute = number(2), hour < 24, minute < 60
        else { return nil }
        let seconds = hour * 3_600 + minute * 60
        return isAhead ? seconds : -seconds
    }
}
