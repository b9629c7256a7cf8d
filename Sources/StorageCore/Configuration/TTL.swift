/// The lifetime of a cached value: `.minutes(5)`, a `Duration`, or a number of seconds. Zero is unlimited.
///
/// ```swift
/// let config = StorageConfig(defaultTTL: .hours(1))
/// await cache.set(user, for: "user-1", ttl: TTL(.milliseconds(500)))
/// ```
public struct TTL: Sendable, Hashable {
    /// The lifetime; zero is unlimited.
    public let duration: Duration

    /// Creates a lifetime.
    ///
    /// - Parameter duration: A negative one counts as zero.
    public init(_ duration: Duration) { self.duration = max(duration, .zero) }
    /// Creates a lifetime of a number of seconds.
    ///
    /// - Parameter seconds: A negative number or NaN counts as zero.
    public init(seconds: Double) { self.init(.seconds(seconds > 0 ? min(seconds, Self.longest) : 0)) }

    /// Returns a lifetime of a number of seconds.
    public static func seconds(_ count: Double) -> TTL { TTL(seconds: count) }
    /// Returns a lifetime of a number of minutes.
    public static func minutes(_ count: Double) -> TTL { TTL(seconds: count * 60) }
    /// Returns a lifetime of a number of hours.
    public static func hours(_ count: Double) -> TTL { TTL(seconds: count * 3_600) }
    /// Returns a lifetime of a number of days.
    public static func days(_ count: Double) -> TTL { TTL(seconds: count * 86_400) }

    /// The lifetime in seconds.
    public var seconds: Double { duration / .seconds(1) }

    /// Thirty million years, in seconds: a longer lifetime doesn't fit in every date.
    private static let longest = 1e15
}

extension TTL: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral {
    /// Creates a lifetime in whole seconds.
    public init(integerLiteral seconds: Int64) { self.init(.seconds(seconds)) }
    /// Creates a lifetime in seconds.
    public init(floatLiteral seconds: Double) { self.init(seconds: seconds) }
}
