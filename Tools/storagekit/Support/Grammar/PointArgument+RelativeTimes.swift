import Foundation

/// Points given by a time: `2h`, `yesterday 14:00`, `2024-05-01`.
extension PointArgument {
    /// `2h`, `1d12h` before now.
    static func ago(_ text: Substring, now: Int64) -> PointArgument? {
        var rest = text
        var total: Int64 = 0
        while !rest.isEmpty {
            let digits = rest.prefix { $0.isASCII && $0.isNumber }
            guard let count = number(digits), let unit = rest.dropFirst(digits.count).first,
                let length = seconds(in: unit)
            else { return nil }
            let (product, overflow) = count.multipliedReportingOverflow(by: length * Timestamp.perSecond)
            let (sum, carry) = total.addingReportingOverflow(product)
            guard !overflow, !carry else { return nil }
            total = sum
            rest = rest.dropFirst(digits.count + 1)
        }
        guard !text.isEmpty else { return nil }
        // Times before the first year are clamped: there is no history there anyway.
        return .time(max(now.subtractingReportingOverflow(total).partialValue, Timestamp.range.lowerBound))
    }

    private static func seconds(in unit: Character) -> Int64? {
        switch unit {
        case "s": 1
        case "m": 60
        case "h": 3600
        case "d": 86_400
        case "w": 604_800
        default: nil
        }
    }

    /// Completes an abbreviated time to one of RFC 3339.
    static func time(_ text: String, now: Int64, _ zone: TimeDisplay) throws(GrammarError) -> PointArgument? {
        var complete = text
        for (word, daysAgo) in [("today", Int64(0)), ("yesterday", 1)] where text == word || text.hasPrefix(word + " ")
        {
            let offset = zone.offsetSeconds(at: now) * Timestamp.perSecond
            let date = Timestamp.text(now + offset - daysAgo * Timestamp.perDay).prefix(10)
            complete = String(date + text.dropFirst(word.count))
        }
        guard complete.utf8.allSatisfy({ $0 < 0x80 }) else { return nil }
        let isLocal = !hasOffset(complete)
        let isDay = complete.count == 10
        switch complete.count {
        case 10: complete += "T00:00:00Z"
        case 16: complete += ":00Z"
        default: if isLocal { complete += "Z" }
        }
        let time: Int64
        do throws(TimestampProblem) {
            time = try Timestamp.parse(complete)
        } catch .notRFC3339 {
            return nil
        } catch {
            throw GrammarError(
                problem: "'\(text)' isn't a point in history: \(error.rawValue).", examples: error.remedy)
        }
        return .time(try isLocal && zone == .local ? local(time, of: text, isDay: isDay) : time)
    }

    /// Returns the time at which clocks in the user's zone show `clock`, the first if they do so twice. The start of a day that they skip is
    /// the moment of the change.
    private static func local(_ clock: Int64, of text: String, isDay: Bool) throws(GrammarError) -> Int64 {
        if let zone = TimeDisplay.unknownZone(ProcessInfo.processInfo.environment) {
            throw GrammarError(
                problem: "'\(text)' isn't a point in history: TZ names an unknown time zone, '\(zone)'.",
                examples: TimeDisplay.zoneRemedy)
        }
        let time = TimeDisplay.local.time(ofClock: clock)
        let shown = time + TimeDisplay.local.offsetSeconds(at: time) * Timestamp.perSecond
        guard shown == clock || isDay else {
            throw GrammarError(
                problem: "'\(text)' isn't a point in history: clocks are set forward then, and never show it.",
                examples: "Write an earlier or a later time, or one with an offset, such as 2024-05-01T10:00:00+02:00.")
        }
        return time
    }

    /// Returns whether a time has an offset: after the date, these characters occur in nothing else.
    private static func hasOffset(_ text: String) -> Bool {
        text.dropFirst(11).contains { $0 == "Z" || $0 == "z" || $0 == "+" || $0 == "-" }
    }
}
