/// What someone may have meant who wrote a point as another tool has it.
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
        let body = lower.hasPrefix("now-") ? lower.dropFirst(4) : lower.hasPrefix("-") ? lower.dropFirst() : ""
        let digits = body.prefix { $0.isASCII && $0.isNumber }
        if let count = Int64(digits) {
            let unit = String(body.dropFirst(digits.count))
            if let short = units[unit] { return "-\(count)\(short)" }
            if let length = days[unit], count < 10_000 { return "-\(count * length)d" }
        }
        return Suggestions.nearest(to: lower, among: words).first
    }

    private static func number(_ text: String) -> Int64? {
        text.utf8.allSatisfy { $0 &- UInt8(ascii: "0") < 10 } ? Int64(text) : nil
    }
}
