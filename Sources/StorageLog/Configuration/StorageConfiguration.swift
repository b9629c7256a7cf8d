internal import Foundation
public import StorageCore

/// How a store is opened.
public struct StorageConfiguration: Sendable {
    /// What a finished write survives.
    public enum Durability: Sendable {
        /// A write that returned survives a crash of the process and the loss of power.
        case full
        /// A write that returned survives a crash of the process; the loss of power may take the last commits, never
        /// half of one.
        case normal
    }

    /// What a write that returned survives.
    public var durability: Durability = .full
    /// Seconds that a statement waits for a lock of another process.
    public var busyTimeoutSeconds: Double = 5
    /// Connections that read at the same time.
    public var readerCount = 4
    /// Connections beside those for reads that take long: verification, views of the past, rebuilds, comparisons. Each holds
    /// back the cutting of the write-ahead log while it reads.
    public var longReaderCount = 2
    /// Writes that may wait for their turn; one more throws `overloaded`. Nil, the default, lets any number wait: a task
    /// that awaits each of its writes adds one at a time.
    public var maximumQueuedWrites: Int?
    /// Whether the store may only be read. Any number of processes may read while one writes.
    public var isReadOnly = false
    /// Where commit times come from.
    public var clock: any CommitClock = SystemCommitClock()
    /// How far the clock may be ahead of the newest commit, of the moment when the store was opened (if that was before 2100), and of
    /// 2026; a commit at a later time throws `clock-ahead`. Commit times never go backwards, so it would be the time of all that
    /// follow. Ten years, the default, let a store rest for as long as it likes, but not a clock jump. Nil takes every time.
    public var maximumClockJump: Duration? = .seconds(10 * 366 * 86_400)

    /// Events in a sealed run. One constant; the tests vary it.
    package var segmentLength = Self.usualSegmentLength
    /// Bytes of a body from which on its row stays as it was written. The tests vary it.
    package var finalRowBytes = Limits.finalRowBytes
    /// What a sealed body becomes before it is read back. The tests break it.
    var sealedBody: @Sendable ([UInt8]) -> [UInt8] = { $0 }
    package var writerCacheKilobytes = 24_000
    package var tailLevel: Int32 = 1
    package var sealedLevel: Int32 = 6
    /// That of windows that a large commit fills by itself, and that somebody waits for: a third faster, 0 to 3 % larger.
    package var filledWindowLevel: Int32 = 5
    /// Whether full windows are sealed in the background.
    package var sealsInBackground = true
    /// How long a store that is open for reading only listens for a writer before it looks all the same.
    package var heartbeat: Duration = .seconds(1)
    /// Whether a database that somebody else made is turned into a store by being opened.
    package var takesOver = false
    /// The epoch that this writer has taken.
    package var epoch: Int64 = 0

    /// Creates the default configuration.
    public init() {}

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
