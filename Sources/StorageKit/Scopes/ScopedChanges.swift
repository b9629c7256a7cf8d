public import StorageCore
internal import StorageEntities
public import StorageLog

extension ScopedStorage {
    /// Returns the changes after a point to rows in the scope: existing commits first, then each new one.
    ///
    /// ```swift
    /// for try await change in mine.changes(since: .head) { try await send(change.events) }
    /// ```
    ///
    /// A row that enters the scope appears as an insert with all its columns, and a row that leaves it as a delete; changes of
    /// rows outside aren't returned. If the events are applied to the scope's rows at `point`, the result is the scope's rows
    /// at each commit. Positions are those of the store, so gaps show that something else has changed, but not what.
    ///
    /// Conditions are evaluated with the values that were recorded at the time. If a condition names a converted column, rows
    /// from before the conversion are hidden.
    ///
    /// - Parameters:
    ///   - point: The point after which changes are returned.
    ///   - query: Which events are returned; its `positions` and its order are ignored. There are none of entities that the
    ///     scope doesn't include.
    /// - Throws: While it is read: `not-found` for a point that isn't in the log, `invalid-argument` for a scope with a
    ///   condition in SQL, or on a column with a collation of your own.
    /// - Complexity: One look-up for each earlier version of a row when its first change is read, and one for each later
    ///   change.
    public func changes(since point: StoragePoint, matching query: LogQuery = LogQuery()) -> ScopedChanges {
        ScopedChanges(self, query) { storage.changes(since: point, matching: $0) }
    }

    /// Returns the changes to rows in the scope that follow those of a token.
    ///
    /// - Throws: While it is read, as ``changes(since:matching:)-(StoragePoint,_)``; `not-found` for a token of another history.
    public func changes(since token: ChangeToken, matching query: LogQuery = LogQuery()) -> ScopedChanges {
        ScopedChanges(self, query) { storage.changes(since: token, matching: $0) }
    }
}

/// The changes after a position to rows in a scope, commit by commit: see ``ScopedStorage/changes(since:matching:)-(StoragePoint,_)``.
///
/// It is read and ends like ``ChangeStream``. Commits without visible changes are skipped.
public struct ScopedChanges: AsyncSequence, Sendable {
    public typealias Element = CommitChanges
    private let scoped: ScopedStorage
    private let query: LogQuery
    private let stream: ChangeStream

    /// - Parameter follow: Reads the changes that match a query.
    fileprivate init(_ scoped: ScopedStorage, _ query: LogQuery, _ follow: (LogQuery) -> ChangeStream) {
        self.scoped = scoped
        self.query = query
        // Filters on operations and columns apply to the visible events, so they can't narrow the log query.
        var all = query
        all.tables = scoped.scope.entities.intersection(query.tables ?? scoped.scope.entities)
        all.operations = nil
        all.columns = nil
        all.includesSchema = false
        stream = follow(all)
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(
            storage: scoped.storage, query: query, changes: stream.makeAsyncIterator(), rows: ScopedRows(scoped.scope))
    }

    /// Reads one commit after another, a large one in parts.
    public struct Iterator: AsyncIteratorProtocol {
        private let storage: Storage
        private let query: LogQuery
        /// Nil after the end.
        private var changes: ChangeStream.Iterator?
        private var rows: ScopedRows
        /// A visible part of a commit, kept until the next part shows whether it is the last one.
        private var pending: CommitChanges?
        /// Whether the first part of the commit that was read is the commit's first part.
        private var beginsCommit = true
        private var isBetweenCommits = true

        fileprivate init(storage: Storage, query: LogQuery, changes: ChangeStream.Iterator, rows: ScopedRows) {
            self.storage = storage
            self.query = query
            self.changes = changes
            self.rows = rows
        }

        /// Returns the next changes; nil when the task is cancelled or the store is closed.
        ///
        /// - Throws: `StorageError`, for example with `corrupt` for a damaged log.
        public mutating func next() async throws -> CommitChanges? {
            while true {
                if let whole = pending, whole.endsCommit {
                    pending = nil
                    return whole
                }
                guard let change = try await changes?.next(), let events = try await visibleEvents(of: change) else {
                    // The rest of the commit isn't known, so its last visible part isn't either.
                    (changes, pending) = (nil, nil)
                    return nil
                }
                if isBetweenCommits { beginsCommit = change.beginsCommit }
                isBetweenCommits = change.endsCommit
                let part = pending
                if !events.isEmpty {
                    pending = CommitChanges(
                        commit: change.commit, events: events, beginsCommit: part == nil && beginsCommit,
                        endsCommit: change.endsCommit, token: change.token)
                    if let part { return part }
                } else if let part, change.endsCommit {
                    pending = CommitChanges(
                        commit: part.commit, events: part.events, beginsCommit: part.beginsCommit, endsCommit: true,
                        token: change.token)
                }
            }
        }

        /// - Returns: Nil if the task is cancelled or the store is closed.
        private mutating func visibleEvents(of change: CommitChanges) async throws -> [StorageEvent]? {
            let known = rows
            do {
                let (events, rows) = try await storage.read { db in
                    var rows = known
                    return (try rows.visibleEvents(of: change, try db.connection), rows)
                }
                self.rows = rows
                return events.filter(query.wants)
            } catch let error as StorageError where error.code == .closed {
                return nil
            } catch is CancellationError {
                return nil
            }
        }
    }
}

extension LogQuery {
    /// Returns whether an event matches the requested operations and columns.
    fileprivate func wants(_ event: StorageEvent) -> Bool {
        guard operations?.contains(event.operation) ?? true else { return false }
        guard let columns else { return true }
        return (event.new ?? event.old ?? []).contains { columns.contains($0.column) }
    }
}
