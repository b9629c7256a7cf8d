import Foundation

extension Timestamp {
    /// The microseconds since 1970 that are next to a date.
    static func microseconds(_ date: Date) -> Int64 {
        Int64(exactly: (date.timeIntervalSince1970 * 1_000_000).rounded()) ?? 0
    }
}
