public import Foundation

/// How long a cached value stays: `.minutes(5)`. Zero is for ever.
public struct TTL: Sendable, Hashable {
    /// The lifetime in seconds.
    public let seconds: TimeInterval

    /// Creates a lifetime of a number of seconds.
    public init(seconds: TimeInterval) { self.seconds = max(seconds, 0) }

    /// A lifetime of a number of seconds.
    public static func seconds(_ count: Double) -> TTL { TTL(seconds: count) }
    /// A lifetime of a number of minutes.
    public static func minutes(_ count: Double) -> TTL { TTL(seconds: count * 60) }
    /// A lifetime of a number of hours.
    public static func hours(_ count: Double) -> TTL { TTL(seconds: count * 3_600) }
    /// A lifetime of a number of days.
    public static func days(_ count: Double) -> TTL { TTL(seconds: count * 86_400) }
}

/// How much room a cache may take: `.megabytes(30)`.
public struct Quota: Sendable, Hashable {
    /// The size in bytes.
    public let bytes: Int

    /// Creates a quota of a number of bytes.
    public init(bytes: Int) { self.bytes = max(bytes, 0) }

    /// A quota of a number of bytes.
    public static func bytes(_ count: Int) -> Quota { Quota(bytes: count) }
    /// A quota of a number of kilobytes.
    public static func kilobytes(_ count: Int) -> Quota { Quota(bytes: count * 1_024) }
    /// A quota of a number of megabytes.
    public static func megabytes(_ count: Int) -> Quota { Quota(bytes: count * 1_048_576) }
    /// A quota of a number of gigabytes.
    public static func gigabytes(_ count: Int) -> Quota { Quota(bytes: count * 1_073_741_824) }
}
