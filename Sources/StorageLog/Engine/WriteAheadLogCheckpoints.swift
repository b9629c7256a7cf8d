internal import CSQLite

/// Copies the write-ahead log into the file when it has grown, as SQLite does by itself, and knows how long that took.
///
/// Isolation: confined to the queue of the writer connection.
final class WriteAheadLogCheckpoints {
    private let database: Connection
    private let state: UnsafeMutablePointer<storage_checkpoints>

    /// - Parameter pages: How many pages the write-ahead log may have after a commit.
    init(_ database: Connection, pages: Int32) {
        self.database = database
        state = .allocate(capacity: 1)
        state.initialize(to: storage_checkpoints(limit: pages, pages: 0, count: 0, nanoseconds: 0))
        _ = takeHook()
    }

    /// Installs itself where a pragma has put something else.
    ///
    /// - Returns: Whether it was there already.
    func takeHook() -> Bool { storage_checkpoints_install(database.handle, state) != 0 }

    deinit {
        sqlite3_wal_hook(database.handle, nil, nil)
        state.deallocate()
    }

    /// How many pages the write-ahead log may have after a commit.
    var pages: Int32 {
        get { state.pointee.limit }
        set { state.pointee.limit = newValue }
    }

    /// How long checkpoints have taken altogether.
    var duration: Duration { .nanoseconds(state.pointee.nanoseconds) }

    /// What the connection says of its pages.
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
