/// A histogram of durations: enough to derive percentiles, without storing each duration.
///
/// ```swift
/// let durations = storage.counters.commitDurations
/// print(durations.count, durations.sum, durations.longest)
/// for (bound, count) in zip(DurationHistogram.bounds, durations.cumulativeCounts) { print(bound, count) }
/// ```
///
/// Adding a duration costs a few comparisons and no memory.
public struct DurationHistogram: Sendable, Hashable {
    /// The upper bounds of the buckets, in nanoseconds: from 100 µs to 10 s, three to a power of ten.
    private static let nanoseconds: [Int64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    /// The upper bounds of the buckets, from 100 µs to 10 s. Longer durations are counted only in ``count``.
    public static var bounds: [Duration] { nanoseconds.map { .nanoseconds($0) } }

    /// The number of durations in each bucket, then the number of those above the last bound.
    private var buckets = [Int](repeating: 0, count: Self.nanoseconds.count + 1)
    /// The number of durations.
    public private(set) var count = 0
    /// The sum of the durations.
    public private(set) var sum = Duration.zero
    /// The longest duration.
    public private(set) var longest = Duration.zero

    package init() {}

    /// For each of ``bounds``, the number of durations up to it.
    public var cumulativeCounts: [Int] {
        var total = 0
        return buckets.dropLast().map { count in
            total += count
            return total
        }
    }

    package mutating func add(_ duration: Duration) {
        let nanoseconds = duration.nanoseconds
        var index = 0
        while index < Self.nanoseconds.count, nanoseconds > Self.nanoseconds[index] { index += 1 }
        buckets[index] += 1
        count += 1
        sum += duration
        if duration > longest { longest = duration }
    }
}

extension Duration {
    /// The duration in whole nanoseconds; the maximum if it is longer than 292 years.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        guard abs(seconds) < Int64.max / 1_000_000_000 else { return .max }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
