internal import GRDB
public import StorageCore
public import StorageLog

extension Storage {
    /// The log, which can be read from any position in either direction.
    public var log: EventLog { EventLog(engine: engine) }
}

/// Reads the log of an open store.
///
/// ```swift
/// for try await event in storage.log.events() {
///     print(event.position, event.operation, event.table)
/// }
/// ```
public struct EventLog: Sendable {
    let engine: StorageEngine

    /// Returns the matching events. They are read a segment at a time, so memory use doesn't grow with the log.
    ///
    /// Events that are committed while the sequence is read forward are part of it.
    ///
    /// - Throws: While it is read: ``StorageError`` with `corrupt` for a damaged log, `closed` if the store is closed.
    public func events(_ query: LogQuery = LogQuery()) -> Events { Events(engine: engine, query: query) }

    /// Returns the commits with matching events, oldest first, or newest first if the query is `descending`. They are read in pages, so memory use
    /// doesn't grow with the log.
    ///
    /// ```swift
    /// var query = LogQuery(tables: ["orders"])
    /// query.descending = true
    /// for try await commit in storage.log.commits(query).prefix(20) {
    ///     print(commit.number, commit.metadata.actor ?? "", commit.changes["orders"]?.total ?? 0)
    /// }
    /// ```
    ///
    /// Commits that only changed the schema, a tag or a note are left out unless the query `includesSchema`. Commits that are
    /// made while the sequence is read forward are part of it; to wait for new ones, use `changes(since:)` of ``Storage``.
    ///
    /// - Throws: While it is read: ``StorageError`` with `corrupt` for a damaged log, `closed` if the store is closed.
    public func commits(_ query: LogQuery = LogQuery()) -> Commits { Commits(engine: engine, query: query) }

    /// Returns the commit at a point, or the last one before it, with the counts of all its changes.
    ///
    /// ```swift
    /// let commit = try await storage.log.commit(at: .tag("release-3"))
    /// print(commit.time, commit.metadata.reason ?? "", commit.positions)
    /// ```
    ///
    /// For the head, it returns the newest commit that does more than tag, note or record an operation. The cost is O(log n) in
    /// the length of the log, and a scan of the commit's events.
    ///
    /// - Throws: ``StorageError`` with `not-found` if the log has no such point, or no commit at or before it.
    public func commit(at point: StoragePoint) async throws -> CommitSummary {
        try await engine.readHistory { history in
            let commit = try MissingPoint.explained { try history.points.commit(of: point) }
            return try history.summary(of: commit)
        }
    }

    /// Returns the last position that a point includes; 0 if it is before the first event.
    ///
    /// ```swift
    /// let position = try await storage.log.position(of: .time(Date(timeIntervalSinceNow: -3_600)))
    /// ```
    ///
    /// The position stays the same, whereas the head, a tag or a future time can move. The cost is O(log n) in the length of
    /// the log.
    ///
    /// - Throws: ``StorageError`` with `not-found` for a point that isn't in the log.
    public func position(of point: StoragePoint) async throws -> Int64 {
        try await engine.read { db in
            let connection = try db.connection
            return try LogReader(connection).position(of: point)
        }
    }

    /// Calls `body` with each decoded segment that holds any of `positions`, oldest first, until it returns false. This is the
    /// fastest way to read the log.
    ///
    /// ```swift
    /// try await storage.log.forEachBatch(in: 1...1_000) { batch in
    ///     print(batch.positions, batch.count)
    ///     return true
    /// }
    /// ```
    ///
    /// - Parameter body: Runs inside one read of the store, so it sees one state of the log; until it ends, the write-ahead log
    ///   isn't truncated. Other reads don't wait for it; see ``StorageConfig/longReaderCount``.
    /// - Throws: What `body` throws; ``StorageError``: `closed`, `corrupt` for a row that can't be decoded.
    public func forEachBatch(
        in positions: ClosedRange<Int64> = 1...Int64.max, _ body: @escaping @Sendable (EventBatch) throws -> Bool
    ) async throws {
        try await engine.readLong { db in
            let connection = try db.connection
            try LogReader(connection).forEachBatch(in: positions, body)
        }
    }
}
