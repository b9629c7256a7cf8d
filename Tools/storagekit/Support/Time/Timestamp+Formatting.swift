extension Timestamp {
    /// Appends the canonical form: in UTC, with no, three or six decimals, the fewest that are exact.
    ///
    /// Times outside the range can't come from parsed text; they are clamped to it.
    static func append(_ microseconds: Int64, to output: inout [UInt8]) {
        let microseconds = min(max(microseconds, range.lowerBound), range.upperBound)
        let (day, timeOfDay) = floorDivide(microseconds, perDay)
        let (year, month, dayOfMonth) = date(ofDay: day)
        let (second, fraction) = floorDivide(timeOfDay, perSecond)
        append(year, 4, to: &output)
        output.append(UInt8(ascii: "-"))
        append(month, 2, to: &output)
        output.append(UInt8(ascii: "-"))
        append(dayOfMonth, 2, to: &output)
        output.append(UInt8(ascii: "T"))
        append(second / 3600, 2, to: &output)
        output.append(UInt8(ascii: ":"))
        append(second / 60 % 60, 2, to: &output)
        output.append(UInt8(ascii: ":"))
        append(second % 60, 2, to: &output)
        if fraction != 0 {
            output.append(UInt8(ascii: "."))
            if fraction % 1000 == 0 {
                append(fraction / 1000, 3, to: &output)
            } else {
                append(fraction, 6, to: &output)
            }
        }
        output.append(UInt8(ascii: "Z"))
    }

    static func text(_ microseconds: Int64) -> String {
        var output: [UInt8] = []
        append(microseconds, to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    /// Returns the time for people: with the offset of their zone, so that it can be typed again; in UTC if the offset can't be written.
    static func shown(_ microseconds: Int64, in display: TimeDisplay = .current) -> String {
        let offset = display.offsetSeconds(at: microseconds)
        let minutes = abs(offset) / 60
        // An offset is written in minutes. That of local mean time, before there were zones, has seconds.
        guard (1..<24 * 60).contains(minutes), offset % 60 == 0 else { return text(microseconds) }
        func digits(_ number: Int64) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return text(microseconds + offset * perSecond).dropLast() + (offset < 0 ? "-" : "+") + digits(minutes / 60)
            + ":"
            + digits(minutes % 60)
    }

    /// Returns the day in the zone of people, for lines without room for more.
    static func day(_ microseconds: Int64, in display: TimeDisplay = .current) -> String {
        String(text(microseconds + display.offsetSeconds(at: microseconds) * perSecond).prefix(10))
    }

    /// Returns `2024-05-01 10:00:00` in the zone of people, without offset and fraction.
    static func clock(_ microseconds: Int64, in display: TimeDisplay = .current) -> String {
        let text = text(microseconds + display.offsetSeconds(at: microseconds) * perSecond)
        return String(text.prefix(19)).replacing("T", with: " ")
    }

    /// Returns quotient and remainder; the remainder is never negative, for times before 1970.
    static func floorDivide(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }

    private static func append(_ value: Int64, _ width: Int, to output: inout [UInt8]) {
        var divisor: Int64 = 1
        for _ in 1..<width { divisor *= 10 }
        while divisor > 0 {
            output.append(UInt8(ascii: "0") + UInt8(value / divisor % 10))
            divisor /= 10
        }
    }
}
