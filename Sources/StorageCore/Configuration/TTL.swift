public import Foundation

/// How long a cached value stays: `.minutes(5)`. Zero is for ever.
public struct TTL: Sendable, Hashable {
    public let seconds: TimeInterval

    public init(seconds: TimeInterval) { self.seconds = max(seconds, 0) }

    public static func seconds(_ count: Double) -> TTL { TTL(seconds: count) }
    public static func minutes(_ count: Double) -> TTL { TTL(seconds: count * 60) }
    public static func hours(_ count: Double) -> TTL { TTL(seconds: count * 3_600) }
    public static func days(_ count: Double) -> TTL { TTL(seconds: count * 86_400) }
}

/// How much room a cache may take: `.megabytes(30)`.
public struct Quota: Sendable, Hashable {
    public let bytes: Int

    public init(bytes: Int) { self.bytes = max(bytes, 0) }

    public static func bytes(_ count: Int) -> Quota { Quota(bytes: count) }
    public static func kilobytes(_ count: Int) -> Quota { Quota(bytes: count * 1_024) }
    public static func megabytes(_ count: Int) -> Quota { Quota(bytes: count * 1_048_576) }
    public static func gigabytes(_ count: Int) -> Quota { Quota(bytes: count * 1_073_741_824) }
}
