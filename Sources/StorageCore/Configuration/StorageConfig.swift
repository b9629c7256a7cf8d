public import Foundation

/// The options of a store, its caches and its encoders.
///
/// ```swift
/// let reader = try StorageKit.start(at: url, config: .init(isReadOnly: true)).facade
/// let config = StorageConfig(durability: .normal, defaultTTL: .minutes(10), namespace: "myapp")
/// ```
public struct StorageConfig: Sendable {
    /// Which failures a finished write survives.
    public enum Durability: Sendable {
        /// A finished write survives a crash of the process and a power failure.
        case full
        /// A finished write survives a crash of the process. A power failure may lose the last commits, but never a part of
        /// one.
        case normal
    }

    // MARK: The store

    /// Whether the store is opened for reading only. Any number of processes may read while one writes.
    public var isReadOnly: Bool
    /// Which failures a finished write survives.
    public var durability: Durability
    /// How long a statement waits for a lock of another process.
    public var busyTimeout: Duration
    /// The maximum number of reads at the same time, each on a connection of its own.
    public var readerCount: Int
    /// The number of additional connections for reads that take long: verification, snapshots, rebuilds, comparisons. Each
    /// delays the truncation of the write-ahead log while it reads.
    public var longReaderCount: Int
    /// The number of writes that may wait for their turn; one more throws `overloaded`. Nil, the default, allows any number: a
    /// task that awaits each of its writes adds one at a time.
    public var maximumQueuedWrites: Int?
    /// The maximum by which the clock may be ahead of the last plausible time; a commit beyond it throws `clock-ahead`.
    ///
    /// The last plausible time is the latest of three: the newest commit, the time when the store was opened (if that was
    /// before 2100), and 2026. Commit times never decrease, so all later commits would get the time of a wrong clock. The
    /// default of ten years lets a store be unused for a long time, but refuses clock jumps. A time that is given, as those of an
    /// imported history are, may be this far ahead of the other two, or as late as the newest commit. Nil accepts every time.
    public var maximumClockJump: Duration?
    /// The source of the time for commits, `updatedAt` columns and caches.
    public var clock: any StorageClock

    // MARK: Caches and encoders

    /// The lifetime of a cached value; 0 is unlimited.
    public var defaultTTL: TTL
    /// The maximum size of a disk cache in bytes.
    public var diskQuotaBytes: Int
    /// The maximum number of entities of each type that repositories keep in memory.
    public var memoryCapacity: Int
    /// Creates a new encoder for each use, because encoders can't be shared between tasks.
    public var makeEncoder: @Sendable () -> JSONEncoder
    /// Creates a new decoder for each use, because decoders can't be shared between tasks.
    public var makeDecoder: @Sendable () -> JSONDecoder
    /// The prefix of cache keys.
    public var namespace: String

    // MARK: Changed only by tests

    /// Events in a sealed run. Constant except in tests.
    package var segmentLength = Self.usualSegmentLength
    /// The body size from which on a segment stays as it was written. Constant except in tests.
    package var finalRowBytes = Limits.finalRowBytes
    /// Changes a sealed body before it is verified; tests damage it here.
    package var sealedBody: @Sendable ([UInt8]) -> [UInt8] = { $0 }
    package var writerCacheKilobytes = 24_000
    package var tailLevel: Int32 = 1
    package var sealedLevel: Int32 = 5
    /// Whether full windows are sealed in the background.
    package var sealsInBackground = true
    /// How long a store that is open for reading only waits for the writer's bell before it looks at the log anyway.
    package var heartbeat: Duration = .seconds(1)
    /// Whether opening a database of another program converts it to a store.
    package var takesOver = false
    /// The epoch of this writer.
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

    /// Debug builds read another length from the environment, so that the test suite can cross segment borders everywhere.
    private static let usualSegmentLength: Int = {
        #if DEBUG
            let wanted = ProcessInfo.processInfo.environment["STORAGEKIT_SEGMENT_LENGTH"].flatMap { Int($0) }
            return min(max(wanted ?? Limits.segmentEvents, 1), Limits.segmentEvents)
        #else
            return Limits.segmentEvents
        #endif
    }()
}
