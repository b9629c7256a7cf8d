#if SQLITE_ENGINE_SQLITENIO
    /// The settings of a ``SQLiteConnection`` or ``SQLiteConnectionPool``.
    ///
    /// ```swift
    /// var configuration = SQLiteConnectionConfiguration()
    /// configuration.busyTimeout = .seconds(10)
    /// let connection = try await SQLiteConnection.open(storage: .file(path: path), configuration: configuration)
    /// ```
    public struct SQLiteConnectionConfiguration: Sendable {
        /// How much of a commit is on the disk when it returns; `PRAGMA synchronous`.
        public enum Synchronous: String, Sendable {
            /// Nothing is lost when the machine loses power.
            case full = "FULL"
            /// With a write-ahead log, the last commits may be lost when the machine loses power, without corruption.
            case normal = "NORMAL"
            /// A loss of power may corrupt the file.
            case off = "OFF"
        }

        /// How commits are written.
        public enum Journal: Sendable {
            /// Keeps the file's setting: a rollback journal in a new one.
            case unchanged
            /// A write-ahead log: readers and the writer don't wait for each other. Always used by a pool.
            case writeAheadLog
        }

        /// How long a statement waits for the lock of another connection before it throws `busy`. Waiting doesn't block
        /// a thread, except in synchronous bodies.
        public var busyTimeout: Duration
        /// Whether changes are refused. A missing file isn't created then.
        public var isReadOnly: Bool
        /// Whether foreign keys are enforced.
        public var enforcesForeignKeys: Bool
        /// How commits are written.
        public var journal: Journal
        /// How much of a commit is on the disk when it returns.
        public var synchronous: Synchronous
        /// The number of prepared statements that a connection caches by their texts; 0 disables the cache.
        public var statementCacheSize: Int
        /// The maximum number of rows that a stream of rows reads ahead.
        public var maximumRowsPerBatch: Int
        /// The maximum size of texts and blobs, in bytes, that a stream of rows reads ahead; a single row may be
        /// larger.
        public var maximumBytesPerBatch: Int
        /// The number of reading connections of a pool.
        public var maximumReaders: Int
        /// How many calls may wait for a connection; further calls throw `busy`.
        public var maximumWaiters: Int
        /// How often ``SQLiteConnection/observeTables(_:)`` and ``SQLiteConnection/observeRows(_:maximumRows:)`` poll
        /// for commits of other connections and processes. Commits of the same connection or pool, and those of a store
        /// that signals its commits, are reported immediately.
        public var observationInterval: Duration

        /// Creates a configuration; the defaults favor safety.
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
