public import StorageCore
public import StorageLog

extension Storage {
    /// Returns the changes after a point, commit by commit: existing commits first, then each new one, until the store is closed or the task is
    /// cancelled.
    ///
    /// ```swift
    /// for try await change in storage.changes(since: .head) {
    ///     print(change.commit.metadata.actor ?? "", change.events.count)
    /// }
    /// ```
    ///
    /// If the store is open for reading only, commits of the writing process arrive as soon as they are made; on systems other
    /// than Linux, or if the writer's wake-up doesn't arrive, within 20 milliseconds.
    ///
    /// - Parameters:
    ///   - point: The point after which changes are returned. A position inside a commit begins with the rest of that commit.
    ///   - query: Which events are returned; its `positions` and its order are ignored. Commits without a matching event are
    ///     skipped.
    /// - Throws: While it is read: `not-found` for a point that isn't in the log.
    public func changes(since point: StoragePoint, matching query: LogQuery = LogQuery()) -> ChangeStream {
        ChangeStream(engine: engine, start: .point(point), query: query)
    }

    /// Returns the changes that follow those of a token.
    ///
    /// ```swift
    /// for try await change in storage.changes(since: token) {
    ///     try await send(change.events)
    ///     token = change.token
    /// }
    /// ```
    ///
    /// A program that stores the token together with the result of the changes processes each of them exactly once.
    ///
    /// - Parameter query: The same query as before: everything up to the token counts as read.
    /// - Throws: While it is read: `not-found` for a token of another history.
    public func changes(since token: ChangeToken, matching query: LogQuery = LogQuery()) -> ChangeStream {
        ChangeStream(engine: engine, start: .token(token), query: query)
    }

    /// Returns the token of a position, for readers that store their position and may later read a restored copy of the store.
    ///
    /// ```swift
    /// let receipt = try await storage.save(user)
    /// let token = try await storage.changeToken(at: receipt.position)
    /// ```
    ///
    /// - Throws: `StorageError` with `not-found` if the log doesn't have the position, or with `closed`.
    public func changeToken(at position: Int64) async throws -> ChangeToken {
        try await engine.read { db in
            let log = LogReader(try db.connection)
            guard position >= 0, position <= (try log.head().position) else {
                throw StorageError(
                    .notFound, "The log has no position @\(position).",
                    remedy: "Pass the position of an event, a difference or a receipt of this store.")
            }
            return try log.token(at: position)
        }
    }

    /// Returns a page of the changes after a point.
    ///
    /// ```swift
    /// let page = try await storage.changes(since: .position(0), limit: 100)
    /// let rest = try await storage.changes(since: page.next, limit: 100)
    /// ```
    ///
    /// Consecutive pages of any size cover the whole log: nothing is repeated or left out, and a commit is split only if it has more events than the
    /// limit.
    ///
    /// - Parameter limit: The maximum number of events; 1 or more.
    /// - Throws: ``StorageError``: `not-found` for a point that isn't in the log, `invalid-argument` for a limit below 1.
    public func changes(
        since point: StoragePoint, matching query: LogQuery = LogQuery(), limit: Int
    ) async throws -> ChangePage {
        try await engine.changes(since: .point(point), matching: query, limit: limit)
    }

    /// Returns the page of changes that follows another page.
    ///
    /// - Throws: ``StorageError``: `not-found` for a token of another history, `invalid-argument` for a limit below 1.
    public func changes(
        since token: ChangeToken, matching query: LogQuery = LogQuery(), limit: Int
    ) async throws -> ChangePage {
        try await engine.changes(since: .token(token), matching: query, limit: limit)
    }
}
