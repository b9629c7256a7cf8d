package import Foundation

// Counted from 2001, as dates are, so that a microsecond keeps the six digits that it has: what one makes of the other gives it back.
extension Date {
    /// A time of the log.
    package init(microseconds: Int64) {
        // Times of the log lie within ``Limits/times``, where nothing wraps around.
        let since2001 = microseconds &- Self.microsecondsTo2001
        self.init(timeIntervalSinceReferenceDate: Double(since2001) / 1_000_000)
    }

    /// The nearest microsecond since 1970 UTC. A date before or behind all that fit is the first or the last of them.
    package var microseconds: Int64 {
        let since2001 = (timeIntervalSinceReferenceDate * 1_000_000).rounded()
        guard let whole = Int64(exactly: since2001) else { return since2001 > 0 ? .max : .min }
        let (sum, overflows) = whole.addingReportingOverflow(Self.microsecondsTo2001)
        return overflows ? .max : sum
    }

    private static let microsecondsTo2001 = Int64(timeIntervalBetween1970AndReferenceDate) * 1_000_000
}
