/// Why text isn't a valid time.
enum TimestampProblem: String, Error {
    case notRFC3339 = "this isn't a time of RFC 3339"
    case noSuchDay = "this day or time of day doesn't exist"
    case leapSecond = "leap seconds can't be stored"
    case outOfRange = "the time must lie in the years 1 to 9999 in UTC"

    var remedy: String {
        switch self {
        case .notRFC3339, .noSuchDay: "Times look like 2024-05-01T10:00:00Z, 2024-05-01T10:00:00.123456+02:00."
        case .leapSecond: "Write second 59 instead of 60."
        case .outOfRange: "Correct the year or the offset."
        }
    }
}

extension Timestamp {
    /// Parses `2024-05-01T10:00:00.123456+02:00`: date, `T` or a space, time, any number of decimals, `Z` or an offset.
    ///
    /// Decimals beyond microseconds are truncated, not rounded, so that no time moves into the future.
    static func parse(_ text: UnsafeRawBufferPointer) throws(TimestampProblem) -> Int64 {
        guard text.count >= 20, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            text[10] | 0x20 == UInt8(ascii: "t") || text[10] == UInt8(ascii: " "),
            text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":")
        else { throw .notRFC3339 }
        let year = try digits(text, at: 0, count: 4)
        let month = try digits(text, at: 5, count: 2)
        let day = try digits(text, at: 8, count: 2)
        let hour = try digits(text, at: 11, count: 2)
        let minute = try digits(text, at: 14, count: 2)
        let second = try digits(text, at: 17, count: 2)
        guard (1...12).contains(month), day >= 1, day <= days(inMonth: month, of: year), hour < 24, minute < 60,
            second <= 60
        else { throw .noSuchDay }
        guard second < 60 else { throw .leapSecond }

        var position = 19
        let fraction = try fraction(text, &position)
        let offsetSeconds = try offset(text, position)
        let seconds =
            daysSince1970(year: year, month: month, day: day) * 86_400 + hour * 3600 + minute * 60 + second
            - offsetSeconds
        let microseconds = seconds * perSecond + fraction
        guard year >= 1, range.contains(microseconds) else { throw .outOfRange }
        return microseconds
    }

    /// Returns whether a valid time has decimals beyond microseconds that aren't zero.
    static func isFinerThanMicroseconds(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.count > 27, text[19] == UInt8(ascii: ".") else { return false }
        return text[26...].prefix { $0 &- UInt8(ascii: "0") < 10 }.contains { $0 != UInt8(ascii: "0") }
    }

    /// Parses a string.
    static func parse(_ text: String) throws(TimestampProblem) -> Int64 {
        var text = text
        let result = text.withUTF8 { bytes in
            Result { () throws(TimestampProblem) in try parse(UnsafeRawBufferPointer(bytes)) }
        }
        return try result.get()
    }

    private static func digits(
        _ text: UnsafeRawBufferPointer, at start: Int, count: Int
    ) throws(TimestampProblem) -> Int64 {
        var value: Int64 = 0
        for index in start..<start + count {
            let digit = text[index] &- UInt8(ascii: "0")
            guard digit < 10 else { throw .notRFC3339 }
            value = value * 10 + Int64(digit)
        }
        return value
    }

    /// Parses the microseconds of `.123456` at `position`, which moves past it; zero if there is no fraction.
    private static func fraction(
        _ text: UnsafeRawBufferPointer, _ position: inout Int
    ) throws(TimestampProblem) -> Int64 {
        guard text[position] == UInt8(ascii: ".") else { return 0 }
        position += 1
        let start = position
        var value: Int64 = 0
        var weight: Int64 = 100_000
        while position < text.count, case let digit = text[position] &- UInt8(ascii: "0"), digit < 10 {
            value += Int64(digit) * weight
            weight /= 10
            position += 1
        }
        guard position > start else { throw .notRFC3339 }
        return value
    }

    /// Parses the seconds east of UTC; `Z` or `±hh:mm` must be the rest of the text.
    private static func offset(_ text: UnsafeRawBufferPointer, _ position: Int) throws(TimestampProblem) -> Int64 {
        guard position < text.count else { throw .notRFC3339 }
        if text[position] | 0x20 == UInt8(ascii: "z") {
            guard position + 1 == text.count else { throw .notRFC3339 }
            return 0
        }
        let isWest = text[position] == UInt8(ascii: "-")
        guard isWest || text[position] == UInt8(ascii: "+"), position + 6 == text.count,
            text[position + 3] == UInt8(ascii: ":")
        else { throw .notRFC3339 }
        let hours = try digits(text, at: position + 1, count: 2)
        let minutes = try digits(text, at: position + 4, count: 2)
        guard hours < 24, minutes < 60 else { throw .noSuchDay }
        let seconds = hours * 3600 + minutes * 60
        return isWest ? -seconds : seconds
    }
}
