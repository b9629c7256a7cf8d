#if STORAGE_HTTP
    internal import Foundation
    internal import StorageSync

    /// The dates of HTTP header fields, in seconds since 1970 UTC.
    ///
    /// Source: RFC 9110, section 5.6.7, with its two obsolete forms, which recipients must accept as well.
    enum HTTPDate {
        /// - Parameter now: Seconds since 1970, for two-digit years: a year more than 50 years ahead belongs to the
        ///   previous century.
        /// - Returns: nil for an invalid date. The day of the week isn't checked.
        static func seconds(_ text: String, now: Int64) -> Int64? {
            let parts = text.split(separator: " ").map(String.init)
            switch parts.count {
            case 6 where parts[5] == "GMT":
                // Sun, 06 Nov 1994 08:49:37 GMT
                guard let year = number(parts[3], digits: 4...4), let day = number(parts[1], digits: 2...2) else {
                    return nil
                }
                return seconds(year: year, month: parts[2], day: day, time: parts[4])
            case 5:
                // Sun Nov  6 08:49:37 1994
                guard let year = number(parts[4], digits: 4...4), let day = number(parts[2], digits: 1...2) else {
                    return nil
                }
                return seconds(year: year, month: parts[1], day: day, time: parts[3])
            case 4 where parts[3] == "GMT":
                // Sunday, 06-Nov-94 08:49:37 GMT
                let date = parts[1].split(separator: "-").map(String.init)
                guard date.count == 3, let year = number(date[2], digits: 2...2),
                    let day = number(date[0], digits: 2...2)
                else { return nil }
                let century = Self.year(of: now) / 100 * 100
                let candidates = [century + 100 + year, century + year, century - 100 + year]
                let times = candidates.map { seconds(year: $0, month: date[1], day: day, time: parts[2]) }
                return times.compactMap { $0 }.first { $0 <= now + 50 * 31_556_952 }
            default: return nil
            }
        }

        private static let months = [
            "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        ]

        private static func seconds(year: Int64, month: String, day: Int64, time: String) -> Int64? {
            let clock = time.split(separator: ":", omittingEmptySubsequences: false)
            guard let month = months.firstIndex(of: month), clock.count == 3,
                clock.allSatisfy({ number(String($0), digits: 2...2) != nil })
            else { return nil }
            // A leap second is one more than the second before it, which the calendar knows.
            let isLeap = clock[2] == "60"
            let date = String(format: "%04lld-%02lld-%02lld", year, Int64(month) + 1, day)
            let text = "\(date) \(clock[0]):\(clock[1]):\(isLeap ? "59" : clock[2])"
            guard let date = try? Date(storageValue: .text(text)) else { return nil }
            return Int64(date.timeIntervalSince1970) + (isLeap ? 1 : 0)
        }

        private static func number(_ text: String, digits: ClosedRange<Int>) -> Int64? {
            guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
                return nil
            }
            return Int64(text)
        }

        /// The approximate year of a time after 1970; an error of a day is irrelevant for the 50-year rule.
        private static func year(of seconds: Int64) -> Int64 { 1970 + seconds / 31_556_952 }
    }
#endif
