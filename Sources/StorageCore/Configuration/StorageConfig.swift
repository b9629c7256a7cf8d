public import Foundation

/// How a store is opened, and what its caches and encoders are made with.
///
/// ```swift
/// let reader = try StorageKit.start(at: url, config: .init(isReadOnly: true)).facade
/// let config = StorageConfig(durability: .normal, defaultTTL: .minutes(10), namespace: "myapp")
/// ```
public struct StorageConfig: Sendable {
    /// What a finished write survives.
    public enum Durability: Sendable {
        /// A write that returned survives a crash of the process and the loss of power.
        case full
        /// A write that returned survives a crash of the process; the loss of power may take the last commits, never
        /// half of one.
        case normal
    }

    // MARK: The store

    /// Whether the store may only be read. Any number of processes may read while one writes.
    public var isReadOnly: Bool
    /// What a finished write survives.
    public var durability: Durability
    /// How long a statement waits for a lock of another process.
    public var busyTimeout: Duration
    /// Connections that read at the same time.
    public var readerCount: Int
    /// Connections beside those for reads that take long: verification, views of the past, rebuilds, comparisons. Each holds
    /// back the cutting of the write-ahead log while it reads.
    public var longReaderCount: Int
    /// Writes that may wait for their turn; one more throws `overloaded`. Nil, the default, lets any number wait: a task
    /// that awaits each of its writes adds one at a time.
    public var maximumQueuedWrites: Int?
    /// How far the clock may be ahead of the newest commit, of the moment when the store was opened (if that was before 2100), and of
    /// 2026; a commit at a later time throws `clock-ahead`. Commit times never go backwards, so it would be the time of all that
    /// follow. Ten years, the default, let a store rest for as long as it likes, but not a clock jump. Nil takes every time.
    public var maximumClockJump: Duration?
    /// Where commits, `updatedAt` columns and caches take the time from.
    public var clock: any StorageClock

    // MARK: Caches and encoders

    /// How long a cached value stays; 0 is for ever.
    public var defaultTTL: TTL
    /// Bytes that a disk cache may take.
    public var diskQuotaBytes: Int
    /// Entities of each type that repositories keep in memory.
    public var memoryCapacity: Int
    /// Makes a new encoder for each use, because encoders can't be shared between tasks.
    public var makeEncoder: @Sendable () -> JSONEncoder
    /// Makes a new decoder for each use, because decoders can't be shared between tasks.
    public var makeDecoder: @Sendable () -> JSONDecoder
    /// The prefix of cache keys.
    public var namespace: String

    // MARK: What only tests change

    /// Events in a sealed run. One constant; the tests vary it.
    package var segmentLength = Self.usualSegmentLength
    /// Bytes of a body from which on its row stays as it was written. The tests vary it.
    package var finalRowBytes = Limits.finalRowBytes
    /// What a sealed body becomes before it is read back. The tests break it.
    package var sealedBody: @Sendable ([UInt8]) -> [UInt8] = { $0 }
    package var writerCacheKilobytes = 24_000
    package var tailLevel: Int32 = 1
    package var sealedLevel: Int32 = 5
    /// Whether full windows are sealed in the background.
    package var sealsInBackground = true
    /// How long a store that is open for reading only listens for a writer before it looks all the same.
    package var heartbeat: Duration = .seconds(1)
    /// Whether a database that somebody else made is turned into a store by being opened.
    package var takesOver = false
    /// The epoch that this writer has taken.
    package var epoch: Int64 = 0

    /// - Parameters:
    ///   - configureEncoder: Changes each new encoder, which writes dates as ISO 8601.
    ///   - configureDecoder: Changes each new decoder, which reads dates as ISO 8601.
    public init(
        isReadOnly: Bool = false, durability: Durability = .full, busyTimeout: Duration = .seconds(5),
        readerCount: Int = 4, longReaderCount: Int = 2, maximumQueuedWrites: Int? = nil,
        maximumClockJump: Duration? = .seconds(10 * 366 * 86_400), defaultTTL: TTL = .minutes(5),
        diskQuotaBytes: Int = 20 * 1_024 * 1_024, memoryCapacity: Int = 1_000, clock: any StorageClock = SystemClock(),
        namespace: String = "storage", configureEncoder: (@Sendable (inout JSONEncoder) -> Void)? = nil,
        configureDecoder: (@Sendable (inout JSONDecoder) -> Void)? = nil
    ) {
        self.isReadOnly = isReadOnly
        self.durability = durability
        self.busyTimeout = busyTimeout
        self.readerCount = readerCount
        self.longReaderCount = longReaderCount
        self.maximumQueuedWrites = maximumQueuedWrites
        self.maximumClockJump = maximumClockJump
        self.defaultTTL = defaultTTL
        self.diskQuotaBytes = diskQuotaBytes
        self.memoryCapacity = memoryCapacity
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

    /// Debug builds take another length from the environment, so that the suite can cross every border of a segment.
    private static let usualSegmentLength: Int = {
        #if DEBUG
            let wanted = ProcessInfo.processInfo.environment["STORAGEKIT_SEGMENT_LENGTH"].flatMap { Int($0) }
            return min(max(wanted ?? Limits.segmentEvents, 1), Limits.segmentEvents)
        #else
            return Limits.segmentEvents
        #endif
    }()
}
