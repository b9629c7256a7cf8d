/// Suggestions for points in the notation of other tools.
enum PointSuggestion {
    private static let words = ["head", "now", "today", "yesterday"]
    private static let units = [
        "min": "m", "mins": "m", "minutes": "m", "minute": "m", "sec": "s", "secs": "s", "seconds": "s", "hour": "h",
        "hours": "h", "hr": "h", "hrs": "h", "day": "d", "days": "d", "week": "w", "weeks": "w",
    ]
    /// Units without a fixed length, in days.
    private static let days: [String: Int64] = [
        "mo": 30, "mon": 30, "month": 30, "months": 30, "y": 365, "yr": 365, "year": 365, "years": 365,
    ]
    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

    static func likely(_ text: String) -> String? {
        let lower = text.lowercased()
        if weekdays.contains(lower) { return "a date such as 2024-05-01, or -7d" }
        if let digits = number(lower) { return "t:\(digits) or @\(digits)" }
        if lower.first == "t", let digits = number(String(lower.dropFirst())) { return "t:\(digits)" }
        if let before = before(lower) { return before }
        if let ago = ago(lower) { return ago }
        let body = lower.hasPrefix("now-") ? lower.dropFirst(4) : lower.hasPrefix("-") ? lower.dropFirst() : ""
        let digits = body.prefix { $0.isASCII && $0.isNumber }
        if let count = Int64(digits) {
            let unit = String(body.dropFirst(digits.count))
            if let short = units[unit] { return "-\(count)\(short)" }
            if let length = days[unit], count < 10_000 { return "-\(count * length)d" }
        }
        return Suggestions.nearest(to: lower, among: words).first
    }

    /// `t:76` for "t:77~" and "t:77^", `t:74` for "t:77~3": commits before a commit.
    private static func before(_ text: String) -> String? {
        guard text.hasPrefix("t:"), let mark = text.firstIndex(where: { $0 == "~" || $0 == "^" }),
            let commit = number(String(text[..<mark].dropFirst(2)))
        else { return nil }
        let rest = String(text[text.index(after: mark)...])
        guard let steps = rest.isEmpty ? 1 : number(rest), steps <= commit else { return nil }
        return "t:\(commit - steps)"
    }

    /// `-2d` for "2 days ago", `-7d` for "last week".
    private static func ago(_ text: String) -> String? {
        let words = text.split(separator: " ").map(String.init)
        if words.count == 2, words[0] == "last" {
            return units[words[1]].map { "-1\($0)" } ?? days[words[1]].map { "-\($0)d" }
        }
        guard words.count == 3, words[2] == "ago" else { return nil }
        guard let count = ["a", "an", "one"].contains(words[0]) ? 1 : Int64(words[0]), (0..<10_000).contains(count)
        else {
            return nil
        }
        return units[words[1]].map { "-\(count)\($0)" } ?? days[words[1]].map { "-\(count * $0)d" }
    }

    private static func number(_ text: String) -> Int64? {
        text.utf8.allSatisfy { $0 &- UInt8(ascii: "0") < 10 } ? Int64(text) : nil
    }
}
