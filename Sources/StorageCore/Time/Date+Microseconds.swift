package import Foundation

// Counted from 2001, as dates are, so that a microsecond keeps its six digits: converting back gives the same value.
extension Date {
    /// A time of the log.
    package init(microseconds: Int64) {
        // Times of the log lie within ``Limits/times``, where nothing wraps around.
        let since2001 = microseconds &- Self.microsecondsTo2001
        self.init(timeIntervalSinceReferenceDate: Double(since2001) / 1_000_000)
    }

    /// The nearest microsecond since 1970 UTC. Dates out of range become the first or last representable one.
    package var microseconds: Int64 {
        let since2001 = (timeIntervalSinceReferenceDate * 1_000_000).rounded()
        guard let whole = Int64(exactly: since2001) else { return since2001 > 0 ? .max : .min }
        let (sum, overflows) = whole.addingReportingOverflow(Self.microsecondsTo2001)
        return overflows ? .max : sum
    }

    private static let microsecondsTo2001 = Int64(timeIntervalBetween1970AndReferenceDate) * 1_000_000
}
