/// The maximum size of a cache, such as `.megabytes(30)`.
///
/// ```swift
/// let context = try StorageKit.start(at: url, diskQuota: .megabytes(50)) { $0.addKVCache() }
/// ```
public struct Quota: Sendable, Hashable {
    /// The size in bytes; never negative.
    public let bytes: Int

    /// Creates a quota in bytes; a negative number counts as 0.
    public init(bytes: Int) { self.bytes = max(bytes, 0) }

    /// So many units; as much as there can be where that is too many.
    private init(_ count: Int, of unit: Int) {
        let (bytes, isTooLarge) = max(count, 0).multipliedReportingOverflow(by: unit)
        self.init(bytes: isTooLarge ? .max : bytes)
    }

    /// Returns a quota in bytes.
    public static func bytes(_ count: Int) -> Quota { Quota(bytes: count) }
    /// Returns a quota in units of 1,024 bytes.
    public static func kilobytes(_ count: Int) -> Quota { Quota(count, of: 1_024) }
    /// Returns a quota in units of 1,048,576 bytes.
    public static func megabytes(_ count: Int) -> Quota { Quota(count, of: 1_048_576) }
    /// Returns a quota in units of 1,073,741,824 bytes.
    public static func gigabytes(_ count: Int) -> Quota { Quota(count, of: 1_073_741_824) }
}
