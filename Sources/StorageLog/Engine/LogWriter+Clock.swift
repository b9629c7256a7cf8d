internal import Foundation
internal import StorageCore

/// Commit times. They never decrease, so one wrong reading of the clock would be the time of every later commit.
extension LogWriter {
    /// The time of the next commit.
    ///
    /// - Parameter given: The time that the caller sets, as imports do; nil for the clock's.
    /// - Throws: `clock-ahead` for a time far ahead.
    func commitTime(_ given: Int64?) throws -> (time: Int64, reading: Int64) {
        let reading = given ?? configuration.clock.microseconds
        guard Limits.times.contains(reading) else { throw StorageError.clock(reading, limit: nil) }
        if let jump = configuration.maximumClockJump {
            let clock = max(openingTime, Limits.knownTime)
            let distance = jump.wholeMicroseconds
            // A series of given times could otherwise reach any distance from the clock. One that the log has already reached is
            // harmless.
            let limit = given == nil ? max(pending.time, clock) &+ distance : max(pending.time, clock &+ distance)
            guard reading <= limit else { throw StorageError.clock(reading, limit: limit) }
        }
        // Before the first commit there is no time to be later than; that of an imported history may be before 1970.
        return (pending.commit == 0 ? reading : max(reading, pending.time), reading)
    }
}

extension Duration {
    /// Limited to a value that can be added to a time.
    fileprivate var wholeMicroseconds: Int64 {
        let (seconds, attoseconds) = components
        let limit = Limits.times.upperBound / 1_000_000
        return min(max(seconds, 0), limit) * 1_000_000 + (seconds < limit ? attoseconds / 1_000_000_000_000 : 0)
    }
}

extension StorageError {
    private static func text(of time: Int64) -> String {
        let years = 0...253_402_300_799_999_999 as ClosedRange<Int64>
        guard years.contains(time) else { return "\(time) microseconds after 1970" }
        return Date(timeIntervalSince1970: Double(time / 1_000_000)).formatted(.iso8601)
    }

    fileprivate static func clock(_ reading: Int64, limit: Int64?) -> StorageError {
        StorageError(
            .clockAhead,
            "The time of a commit would be \(text(of: reading))"
                + (limit.map { ", and \(text(of: $0)) is the latest that is accepted" } ?? "")
                + ". All later commits would have that time, too.",
            remedy:
                "Correct the clock, or the time that was given. If it is right, set maximumClockJump of the configuration."
        )
    }
}
