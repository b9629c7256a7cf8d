import Foundation

/// The machine's clock.
enum SystemTime {
    /// Microseconds since 1970 in UTC.
    static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * Timestamp.perSecond + Int64(time.tv_nsec) / 1000
    }
}
