/// How much room a cache may take: `.megabytes(30)`.
public struct Quota: Sendable, Hashable {
    public let bytes: Int

    public init(bytes: Int) { self.bytes = max(bytes, 0) }

    public static func bytes(_ count: Int) -> Quota { Quota(bytes: count) }
    public static func kilobytes(_ count: Int) -> Quota { Quota(bytes: count * 1_024) }
    public static func megabytes(_ count: Int) -> Quota { Quota(bytes: count * 1_048_576) }
    public static func gigabytes(_ count: Int) -> Quota { Quota(bytes: count * 1_073_741_824) }
}
