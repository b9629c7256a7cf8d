#if SQLITE_ENGINE_SQLITENIO
    /// How connections of ``SQLiteConnection`` and ``SQLiteConnectionPool`` are set up.
    public struct SQLiteConnectionConfiguration: Sendable {
        /// How much of a commit is on the disk when it returns; `PRAGMA synchronous`.
        public enum Synchronous: String, Sendable {
            /// Nothing is lost when the machine loses power.
            case full = "FULL"
            /// With a write-ahead log the last commits may be lost when the machine loses power; nothing is damaged.
            case normal = "NORMAL"
            /// A loss of power may damage the file.
            case off = "OFF"
        }

        /// How commits are written.
        public enum Journal: Sendable {
            /// As the file has it: a rollback journal in a new one.
            case unchanged
            /// A write-ahead log: readers and the writer don't wait for each other. A pool always has it.
            case writeAheadLog
        }

        /// How long a statement waits for the lock of another connection before it throws `busy`. The wait holds no thread,
        /// except in synchronous bodies.
        public var busyTimeout: Duration
        /// Whether nothing may be changed. A file that isn't there isn't made then.
        public var isReadOnly: Bool
        /// Whether foreign keys are enforced.
        public var enforcesForeignKeys: Bool
        public var journal: Journal
        public var synchronous: Synchronous
        /// How many prepared statements a connection keeps for the next use of their text; 0 keeps none.
        public var statementCacheSize: Int
        /// The most rows that a stream of rows reads ahead.
        public var maximumRowsPerBatch: Int
        /// The most bytes of text and blobs that a stream of rows reads ahead; a single row may be larger.
        public var maximumBytesPerBatch: Int
        /// The connections of a pool that read at the same time.
        public var maximumReaders: Int
        /// How many calls may wait for a connection; more are refused with `busy`.
        public var maximumWaiters: Int
        /// How often ``SQLiteConnection/observeTables(_:)`` and ``SQLiteConnection/observeRows(_:maximumRows:)`` look for commits
        /// of other connections and processes. Those of the same connection or pool, and those of a store that has a doorbell,
        /// are reported at once.
        public var observationInterval: Duration

        /// The defaults are the safe ones.
        public init(
            busyTimeout: Duration = .seconds(5), isReadOnly: Bool = false, enforcesForeignKeys: Bool = true,
            journal: Journal = .unchanged, synchronous: Synchronous = .full, statementCacheSize: Int = 64,
            maximumRowsPerBatch: Int = 256, maximumBytesPerBatch: Int = 1 << 20, maximumReaders: Int = 4,
            maximumWaiters: Int = 10_000, observationInterval: Duration = .milliseconds(100)
        ) {
            self.busyTimeout = busyTimeout
            self.isReadOnly = isReadOnly
            self.enforcesForeignKeys = enforcesForeignKeys
            self.journal = journal
            self.synchronous = synchronous
            self.statementCacheSize = statementCacheSize
            self.maximumRowsPerBatch = max(maximumRowsPerBatch, 1)
            self.maximumBytesPerBatch = max(maximumBytesPerBatch, 1)
            self.maximumReaders = max(maximumReaders, 1)
            self.maximumWaiters = max(maximumWaiters, 0)
            self.observationInterval = max(observationInterval, .milliseconds(1))
        }
    }
#endif
