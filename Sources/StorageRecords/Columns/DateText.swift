/// Dates as SQLite and GRDB write them: `2026-01-15 10:00:00.123`, in UTC and the Gregorian calendar of all years.
///
/// - The text of a date reads back as that date, bit for bit. (−0.0, which is the same date as 0.0, becomes 0.0.) It has three
///   digits after the point, and more only if needed.
/// - Texts sort in the order of their dates, also beside GRDB's with three digits: of two with the same beginning, the longer is
///   later.
/// - A date whose year doesn't have four digits has no text.
enum DateText {
    /// Seconds since 2001 at the beginning of the year 0.
    private static let first = -63_145_526_400.0
    /// Seconds since 2001 at the end of the year 9999.
    private static let end = 252_423_993_600.0
    /// Room for every date that is a second or more from 2001-01-01 00:00:00.
    private static let room = 40
    static let secondsPerDay = 86_400
    /// Days from the beginning of the year 0 to that of 2001.
    static let daysBefore2001 = 730_851

    /// Whether a date has a text.
    static func covers(_ seconds: Double) -> Bool { seconds >= first && seconds < end }

    /// Runs `body` on the text of a date; nil if it has none.
    ///
    /// - Parameter seconds: Since 2001-01-01 00:00:00 UTC.
    @inline(__always)
    static func withText<Result>(
        of seconds: Double, _ body: (UnsafeRawBufferPointer) throws -> Result
    ) rethrows -> Result? {
        guard covers(seconds) else { return nil }
        if seconds.magnitude < 1, seconds != 0 { return try nearZero(seconds).withUnsafeBytes(body) }
        return try withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { buffer in
            let count = write(seconds, to: buffer)
            return try body(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    static func text(of seconds: Double) -> String? {
        withText(of: seconds) { String(decoding: $0, as: UTF8.self) }
    }

    /// - Returns: How many bytes were written.
    private static func write(_ seconds: Double, to buffer: UnsafeMutableRawBufferPointer) -> Int {
        let whole = seconds.rounded(.down)
        let (day, second) = (Int(whole) + daysBefore2001 * secondsPerDay).quotientAndRemainder(
            dividingBy: secondsPerDay)
        let date = civil(day)
        var output = DigitWriter(buffer: buffer)
        output.append(date.year, digits: 4)
        output.append(UInt8(ascii: "-"))
        output.append(date.month, digits: 2)
        output.append(UInt8(ascii: "-"))
        output.append(date.day, digits: 2)
        output.append(UInt8(ascii: " "))
        output.append(second / 3_600, digits: 2)
        output.append(UInt8(ascii: ":"))
        output.append(second / 60 % 60, digits: 2)
        output.append(UInt8(ascii: ":"))
        output.append(second % 60, digits: 2)
        output.append(UInt8(ascii: "."))
        let (fraction, digits) = fraction(of: seconds, from: whole)
        output.append(fraction, digits: digits)
        return output.count
    }

    /// Year, month and day of a day counted from the beginning of the year 0.
    ///
    /// `civil_from_days` of Howard Hinnant's "chrono-Compatible Low-Level Date Algorithms"
    /// (https://howardhinnant.github.io/date_algorithms.html), which counts years from March, so that the leap day is the last.
    private static func civil(_ day: Int) -> (year: Int, month: Int, day: Int) {
        // Begins an era of 400 years earlier, so that January and February of the year 0 aren't negative.
        let (era, dayOfEra) = (day - 60 + 146_097).quotientAndRemainder(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let month = (5 * dayOfYear + 2) / 153
        let isNextYear = month >= 10
        return (
            (era - 1) * 400 + yearOfEra + (isNextYear ? 1 : 0), isNextYear ? month - 9 : month + 3,
            dayOfYear - (153 * month + 2) / 5 + 1
        )
    }
}

// MARK: Fractions

extension DateText {
    /// The fewest digits after the point, at least three, that are nearer to the date than to any other double.
    private static func fraction(of seconds: Double, from whole: Double) -> (digits: Int, count: Int) {
        guard seconds != whole else { return (0, 3) }
        // The double is a multiple of 2^-bits: 15 to 52 of them, as it is between a second and 10,000 years from 2001.
        let bits = 52 - Int(seconds.exponent)
        let fraction = UInt64((seconds - whole) * Double(1 << bits))
        // Ten digits are finer than 30 bits, and 2^30 times 10^10 is below 2^64.
        return bits <= 30
            ? digits(of: fraction, bits, in: UInt64.self) : digits(of: fraction, bits, in: UInt128.self)
    }

    /// A whole multiple of 2^-bits in decimal digits. It ends: digits that are finer than 2^-bits are near enough.
    @inline(__always)
    private static func digits<Wide: FixedWidthInteger & UnsignedInteger>(
        of fraction: UInt64, _ bits: Int, in wide: Wide.Type
    ) -> (digits: Int, count: Int) {
        var power: Wide = 1_000
        var count = 3
        while true {
            let scaled = Wide(fraction) * power
            let digits = (scaled + 1 << (bits - 1)) >> bits
            let written = digits << bits
            let error = scaled > written ? scaled - written : written - scaled
            if error * 2 < power { return (Int(digits), count) }
            power *= 10
            count += 1
        }
    }

    /// Within a second of 2001-01-01 doubles are at their finest and need up to 324 digits: those of Swift's shortest
    /// description, without its exponent.
    private static func nearZero(_ seconds: Double) -> [UInt8] {
        let parts = seconds.magnitude.description.split(separator: "e")
        let number = parts[0].utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        let exponent = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        // 0.25, or 2.5e-07: with an exponent, the digit before the point is one of the fraction's.
        var digits = exponent < 0 ? Array(repeating: UInt8(ascii: "0"), count: -exponent - 1) + number[0] : []
        digits += number.dropFirst().joined()
        while digits.count > 3, digits.last == UInt8(ascii: "0") { digits.removeLast() }
        while digits.count < 3 { digits.append(UInt8(ascii: "0")) }
        if seconds > 0 { return Array("2001-01-01 00:00:00.".utf8) + digits }
        complement(&digits)
        return Array("2000-12-31 23:59:59.".utf8) + digits
    }

    /// Replaces the digits of a fraction by those of its difference to one.
    static func complement(_ digits: inout [UInt8]) {
        guard let last = digits.lastIndex(where: { $0 != UInt8(ascii: "0") }) else { return }
        for index in digits[..<last].indices { digits[index] = 2 * UInt8(ascii: "0") + 9 - digits[index] }
        digits[last] = 2 * UInt8(ascii: "0") + 10 - digits[last]
    }
}

/// Writes numbers in decimal digits into memory that is large enough.
private struct DigitWriter {
    let buffer: UnsafeMutableRawBufferPointer
    var count = 0

    mutating func append(_ byte: UInt8) {
        buffer[count] = byte
        count += 1
    }

    @inline(__always)
    mutating func append(_ number: Int, digits: Int) {
        // Nothing here overflows: dates have numbers of at most 16 digits, and the buffer has room for them.
        var rest = UInt(bitPattern: number)
        var offset = count &+ digits
        count = offset
        for _ in 0..<digits {
            offset &-= 1
            let tens = rest / 10
            buffer[offset] = UInt8(truncatingIfNeeded: rest &- tens &* 10) | UInt8(ascii: "0")
            rest = tens
        }
    }
}
