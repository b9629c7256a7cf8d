/// The maximum size of a cache: `.megabytes(30)`.
public struct Quota: Sendable, Hashable {
    /// The bytes; never below 0.
    public let bytes: Int

    /// A quota in bytes; 0 for a negative number.
    public init(bytes: Int) { self.bytes = max(bytes, 0) }

    /// So many units; as much as there can be where that is too many.
    private init(_ count: Int, of unit: Int) {
        let (bytes, isTooLarge) = max(count, 0).multipliedReportingOverflow(by: unit)
        self.init(bytes: isTooLarge ? .max : bytes)
    }

    /// A quota in bytes.
    public static func bytes(_ count: Int) -> Quota { Quota(bytes: count) }
    /// A quota in units of 1,024 bytes.
    public static func kilobytes(_ count: Int) -> Quota { Quota(count, of: 1_024) }
    /// A quota in units of 1,048,576 bytes.
    public static func megabytes(_ count: Int) -> Quota { Quota(count, of: 1_048_576) }
    /// A quota in units of 1,073,741,824 bytes.
    public static func gigabytes(_ count: Int) -> Quota { Quota(count, of: 1_073_741_824) }
}
