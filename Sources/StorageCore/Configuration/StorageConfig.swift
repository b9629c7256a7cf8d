public import Foundation

/// What caches and encoders are made with.
public struct StorageConfig: Sendable {
    /// Seconds that a cached value stays; 0 is for ever.
    public var defaultTTL: TimeInterval
    /// Bytes that a disk cache may take.
    public var diskQuotaBytes: Int
    /// Entities of each type that repositories keep in memory.
    public var memoryCapacity = 1_000
    /// Makes a new encoder for each use, because encoders can't be shared between tasks.
    public var makeEncoder: @Sendable () -> JSONEncoder
    /// Makes a new decoder for each use, because decoders can't be shared between tasks.
    public var makeDecoder: @Sendable () -> JSONDecoder
    /// The clock of caches and `updatedAt` columns.
    public var clock: any Clock
    /// The prefix of cache keys.
    public var namespace: String

    /// Creates a configuration. Dates are coded as ISO 8601 by default.
    ///
    /// - Parameters:
    ///   - defaultTTL: The lifetime of cached values in seconds; 0 is forever.
    ///   - diskQuotaBytes: The maximum size of a disk cache.
    public init(
        defaultTTL: TimeInterval = 300, diskQuotaBytes: Int = 20 * 1_024 * 1_024, clock: any Clock = SystemClock(),
        namespace: String = "storage", configureEncoder: (@Sendable (inout JSONEncoder) -> Void)? = nil,
        configureDecoder: (@Sendable (inout JSONDecoder) -> Void)? = nil
    ) {
        self.defaultTTL = defaultTTL
        self.diskQuotaBytes = diskQuotaBytes
        self.clock = clock
        self.namespace = namespace
        makeEncoder = {
            var encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            configureEncoder?(&encoder)
            return encoder
        }
        makeDecoder = {
            var decoder = JSONDecoder()
            decoder.dateDecodingStrategy = .iso8601
            configureDecoder?(&decoder)
            return decoder
        }
    }

    /// Builds the keys of this configuration's caches.
    public var keys: KeyBuilder { KeyBuilder(namespace: namespace) }
}
