internal import CSQLite

/// Copies the write-ahead log into the file when it has grown, as SQLite does by itself, and measures how long that takes.
///
/// Isolation: confined to the queue of the writer connection.
final class WriteAheadLogCheckpoints {
    private let database: Connection
    private let state: UnsafeMutablePointer<storage_checkpoints>

    /// - Parameter pages: The number of pages in the write-ahead log from which on a commit checkpoints it.
    init(_ database: Connection, pages: Int32) {
        self.database = database
        state = .allocate(capacity: 1)
        state.initialize(to: storage_checkpoints(limit: pages, pages: 0, count: 0, nanoseconds: 0))
        _ = takeHook()
    }

    /// Installs the hook again if a pragma has replaced it.
    ///
    /// - Returns: Whether it was still installed.
    func takeHook() -> Bool { storage_checkpoints_install(database.handle, state) != 0 }

    deinit {
        sqlite3_wal_hook(database.handle, nil, nil)
        state.deallocate()
    }

    /// The number of pages in the write-ahead log from which on a commit checkpoints it.
    var pages: Int32 {
        get { state.pointee.limit }
        set { state.pointee.limit = newValue }
    }

    /// The total duration of checkpoints.
    var duration: Duration { .nanoseconds(state.pointee.nanoseconds) }

    /// The connection's current page counters.
    var pagesNow: TransactionPages {
        TransactionPages(
            wal: Int(state.pointee.pages), checkpoints: Int(state.pointee.count), checkpointDuration: duration,
            cacheHits: status(SQLITE_DBSTATUS_CACHE_HIT), cacheMisses: status(SQLITE_DBSTATUS_CACHE_MISS))
    }

    private func status(_ code: Int32) -> Int {
        var (value, highest): (Int32, Int32) = (0, 0)
        sqlite3_db_status(database.handle, code, &value, &highest, 0)
        return Int(value)
    }
}
