/// Times as microseconds since 1970 in UTC, and as text (RFC 3339).
///
/// Exact for the years 1 to 9999 of the proleptic Gregorian calendar, as in RFC 3339. Needs no locale, no time zone database and no allocation.
enum Timestamp {
    static let perSecond: Int64 = 1_000_000
    static let perDay: Int64 = 86_400 * perSecond

    /// `0001-01-01T00:00:00Z` and the last microsecond of the year 9999.
    static let range: ClosedRange<Int64> =
        daysSince1970(year: 1, month: 1, day: 1) * perDay...daysSince1970(year: 10_000, month: 1, day: 1) * perDay - 1

    static func isLeap(_ year: Int64) -> Bool {
        year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    }

    static func days(inMonth month: Int64, of year: Int64) -> Int64 {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    /// Returns the number of days since 1970-01-01; H. Hinnant, "chrono-Compatible Low-Level Date Algorithms".
    ///
    /// There years begin in March, so that the leap day is the last of its year, and eras are 400 years long.
    static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// Returns the date of a day counted from 1970-01-01; the inverse of `daysSince1970`.
    static func date(ofDay day: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
