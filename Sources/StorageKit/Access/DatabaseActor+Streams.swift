public import GRDB

extension DatabaseActor {
    /// Returns a stream of the values that `tracking` reads, first now and then after commits that may change them.
    ///
    /// ```swift
    /// for await total in db.stream(tracking: { try Int.fetchOne($0, sql: "SELECT sum(amount) FROM payments") ?? 0 }) {
    ///     print(total)
    /// }
    /// ```
    ///
    /// The closure runs again only if a commit, of this or another process, inserts or deletes a row of a table that the last
    /// run has read, or updates a column that it has read. Commits that arrive during a run cause a single further run. Reading
    /// a full-text index counts as reading its entity. A closure that reads tables outside the log, such as those of
    /// projections, runs after every commit. Dependencies outside the store aren't tracked. To follow a query at a cost
    /// proportional to the changed rows, use ``LiveQuery`` or a view.
    ///
    /// While the closure runs, the stream uses the trace function of GRDB's connection.
    ///
    /// Values are delivered to the task that awaits them: on the main actor if the loop runs there. The stream ends when the
    /// store is closed or the reading task is cancelled; an error never ends it.
    ///
    /// - Parameters:
    ///   - bufferingPolicy: Which values are buffered for a slow reader; by default the last one.
    ///   - onError: Called with each error that `tracking` throws; `tracking` runs again after the next commit.
    public nonisolated func stream<Value: Sendable>(
        bufferingPolicy: AsyncStream<Value>.Continuation.BufferingPolicy = .bufferingNewest(1),
        onError: @escaping @Sendable (any Error) -> Void = { _ in },
        tracking: @escaping @Sendable (Database) throws -> Value
    ) -> AsyncStream<Value> { values(bufferingPolicy, onError: onError, tracking: tracking) { _ in true } }

    /// Does the same as ``stream(bufferingPolicy:onError:tracking:)``; the name says how it is used.
    ///
    /// ```swift
    /// for await count in db.streamOnMainActor(tracking: { try UserRecord.fetchCount($0) }) { print(count) }
    /// ```
    public nonisolated func streamOnMainActor<Value: Sendable>(
        bufferingPolicy: AsyncStream<Value>.Continuation.BufferingPolicy = .bufferingNewest(1),
        onError: @escaping @Sendable (any Error) -> Void = { _ in },
        tracking: @escaping @Sendable (Database) throws -> Value
    ) -> AsyncStream<Value> { values(bufferingPolicy, onError: onError, tracking: tracking) { _ in true } }

    /// Like ``stream(bufferingPolicy:onError:tracking:)``, but leaves out each value that equals the one before.
    ///
    /// ```swift
    /// for await count in db.streamDistinctOnMainActor(tracking: { try UserRecord.fetchCount($0) }) { print(count) }
    /// ```
    ///
    /// Swift's texts are equal if only their Unicode form differs, such as é as one character or as two. A `String`, a `String?`,
    /// a `[String]`, an entity and an array of entities are left out only if the bytes of their texts are equal, too.
    public nonisolated func streamDistinctOnMainActor<Value: Sendable & Equatable>(
        bufferingPolicy: AsyncStream<Value>.Continuation.BufferingPolicy = .bufferingNewest(1),
        onError: @escaping @Sendable (any Error) -> Void = { _ in },
        tracking: @escaping @Sendable (Database) throws -> Value
    ) -> AsyncStream<Value> {
        let last = LastValue<Value>()
        return values(bufferingPolicy, onError: onError, tracking: tracking) { last.change(to: $0) }
    }

    private nonisolated func values<Value: Sendable>(
        _ bufferingPolicy: AsyncStream<Value>.Continuation.BufferingPolicy,
        onError: @escaping @Sendable (any Error) -> Void, tracking: @escaping @Sendable (Database) throws -> Value,
        where isWanted: @escaping @Sendable (Value) -> Bool
    ) -> AsyncStream<Value> {
        let storage = storage
        return AsyncStream(bufferingPolicy: bufferingPolicy) { continuation in
            let reader = TrackedReader(storage, tracking)
            let task = Task {
                while let (value, _) = await reader.next(onError: { onError($0) }) {
                    if isWanted(value) { continuation.yield(value) }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in
                reader.cancel()
                task.cancel()
            }
        }
    }
}
