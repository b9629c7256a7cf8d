/// How many durations were at most how long: enough for a share of them, without one number for each.
///
/// Adding one costs a few comparisons and no memory.
public struct DurationHistogram: Sendable, Hashable {
    /// The upper bounds of the buckets, in nanoseconds: from 100 µs to 10 s, three to a power of ten.
    private static let nanoseconds: [Int64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    /// The upper bounds of the buckets. What is longer is only in ``count``.
    public static var bounds: [Duration] { nanoseconds.map { .nanoseconds($0) } }

    /// How many durations each bucket has of its own, and behind them those above the last bound.
    private var buckets = [Int](repeating: 0, count: Self.nanoseconds.count + 1)
    /// How many there were.
    public private(set) var count = 0
    /// All of them together.
    public private(set) var sum = Duration.zero
    /// The longest one.
    public private(set) var longest = Duration.zero

    package init() {}

    /// How many were at most as long as each of ``bounds``.
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
    /// In whole nanoseconds; the most there can be where it is longer than 292 years.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        guard abs(seconds) < Int64.max / 1_000_000_000 else { return .max }
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
