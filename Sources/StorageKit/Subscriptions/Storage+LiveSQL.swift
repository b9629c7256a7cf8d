public import GRDB
internal import StorageCore
internal import StorageLog
internal import StorageRouting
public import StorageViews
internal import Synchronization

extension Storage {
    /// Returns a live query of the rows that SQL of your own finds, such as joins, totals or common table expressions; any
    /// actor can follow it.
    ///
    /// ```swift
    /// struct Total: Decodable, FetchableRecord, Identifiable, Equatable { var id: String; var pages: Int }
    ///
    /// let totals = storage.live { db in
    ///     try Total.fetchAll(
    ///         db,
    ///         sql: """
    ///             SELECT authors.id, sum(pages) AS pages FROM authors JOIN books ON authorId = authors.id
    ///             GROUP BY authors.id ORDER BY pages DESC
    ///             """)
    /// }
    /// for try await rows in totals.snapshots { … }
    /// ```
    ///
    /// The closure runs again only if a commit, of this or another process, inserts or deletes a row of a table that the last
    /// run has read, or updates a column that it has read; ``LiveQuery/explain()`` names them. The result is compared with the
    /// last one by `id`, and a difference is sent if there is one. To follow an entity's rows at a cost proportional to the
    /// changed rows, use `query(…).live()`.
    ///
    /// The items' `==` decides whether there is one. Swift's texts are equal if only their Unicode form differs, such as é as one
    /// character or as two: such a change of a text isn't sent, unless `==` compares the `utf8` of texts, or the items are
    /// entities, of whose columns the texts are compared by their bytes.
    ///
    /// There is an exception for a closure that runs a single statement: a `SELECT` from one table whose condition compares
    /// columns with whole numbers or texts, joined by AND. Rows that meet it neither before nor after
    /// a commit don't make the closure run. ``SubscriptionExplanation/rowCondition`` shows the condition.
    ///
    /// `differences(since:)` sends the whole result: earlier results aren't in the log, and running the closure on the tables
    /// as of that position could give another result, because of today's time, variables and plan. A reader that still has
    /// its rows receives the steps from them with `differences(from:)`.
    ///
    /// - Parameter body: Reads the rows from one state of the store. An error of SQLite or an exceeded limit in the first
    ///   run ends the sequence; other errors go to `onError`, and the closure runs again after the next commit.
    public func live<Item: Sendable & Equatable & Identifiable>(
        tracking body: @escaping @Sendable (Database) throws -> [Item]
    ) -> LiveQuery<[Item], ListDifference<Item>> {
        tracked(body) { old, new, position in
            guard let old else { return ListDifference(position: position, whole: new, changes: []) }
            return ListDifference(from: old, to: new, by: \.id, at: position)
        }
    }

    /// Returns a live query of a value that SQL of your own finds; any actor can follow it.
    ///
    /// ```swift
    /// let pages = storage.liveValue { try Int.fetchOne($0, sql: "SELECT sum(pages) FROM books") ?? 0 }
    /// ```
    ///
    /// The closure runs again under the conditions of ``live(tracking:)``. A value is sent if it differs from the last one by
    /// `==`; a `String`, a `String?`, a `[String]`, an entity and an array of entities, also if the bytes of a text differ.
    public func liveValue<Value: Sendable & Equatable>(
        tracking body: @escaping @Sendable (Database) throws -> Value
    ) -> LiveQuery<Value, ValueDifference<Value>> {
        tracked(body) { old, new, position in ValueDifference(at: position, from: old, to: new) }
    }

    private func tracked<Value: Sendable & Equatable, Difference: Sendable>(
        _ body: @escaping @Sendable (Database) throws -> Value,
        _ difference: @escaping @Sendable (_ old: Value?, _ new: Value, _ position: Int64) -> Difference
    ) -> LiveQuery<Value, Difference> {
        let storage = self
        return LiveQuery(
            snapshots: { onError in
                LiveSequence {
                    let reader = DistinctReader(storage, body, onError)
                    return { () async throws(StorageError) -> Value? in try await reader.next()?.new }
                }
            },
            differences: { onError in
                LiveSequence {
                    let reader = DistinctReader(storage, body, onError)
                    return { () async throws(StorageError) -> Difference? in
                        try await reader.next().map { difference($0.old, $0.new, $0.position) }
                    }
                }
            },
            optimistic: { onError in
                LiveSequence {
                    let reader = DistinctReader(storage, body, onError)
                    // What the last read with pending changes has read: other rows may lead the closure to other tables.
                    let last = LastState()
                    let source = LiveValueSource<Value>(
                        next: { () async throws(StorageError) -> PositionedValue<Value>? in
                            try await reader.next().map { ($0.new, $0.position) }
                        },
                        read: { rows, position in
                            let known = position == nil ? nil : last.state.withLock { $0 }
                            let found = try await storage.engine.readFirst { db in
                                try OptimisticTables.read(rows, in: db) {
                                    try TrackedState.read(db, unless: known, body)
                                }
                            }
                            last.state.withLock { $0 = found.state }
                            return (found.value, found.state.position)
                        },
                        onCommit: { storage.engine.onCommit($0) })
                    let optimistic = OptimisticReader(
                        source, storage.subscriptions.optimisticChanges, of: nil, onError: onError)
                    return { () async throws(StorageError) -> OptimisticValue<Value>? in try await optimistic.next() }
                }
            },
            explain: {
                let reader = TrackedReader(storage, body)
                guard try await reader.next(onError: { throw $0 }) != nil else {
                    try Task.checkCancellation()
                    throw StorageError.closed()
                }
                return SubscriptionExplanation(
                    tracking: reader.region?.tables ?? [], rows: reader.region?.filter?.text)
            })
    }
}

/// Keeps what a read has read for the next one.
private final class LastState: Sendable {
    let state = Mutex<TrackedState?>(nil)
}

/// Reads values that differ from the last one.
///
/// Isolation: `Sendable`, its state behind a mutex; one task reads at a time.
private final class DistinctReader<Value: Sendable & Equatable>: Sendable {
    private let reader: TrackedReader<Value>
    private let onError: @Sendable (StorageError) -> Void
    private let last = Mutex<Value?>(nil)

    init(
        _ storage: Storage, _ body: @escaping @Sendable (Database) throws -> Value,
        _ onError: @escaping @Sendable (StorageError) -> Void
    ) {
        reader = TrackedReader(storage, body)
        self.onError = onError
    }

    /// - Throws: If the first value can't be read, and retrying is of no use.
    func next() async throws(StorageError) -> (old: Value?, new: Value, position: Int64)? {
        while true {
            let old = last.withLock { $0 }
            let found = try await reader.next { (error) throws(StorageError) in
                let error = error.forSubscribers
                if old == nil, error.isFinalOfFirstRead { throw error }
                onError(error)
            }
            guard let found else { return nil }
            if let old, found.value.isSame(as: old) { continue }
            last.withLock { $0 = found.value }
            return (old, found.value, found.position)
        }
    }
}
