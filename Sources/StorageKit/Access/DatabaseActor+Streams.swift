public import GRDB
internal import StorageCore
internal import StorageLog

extension DatabaseActor {
    /// What `tracking` reads, now and after commits.
    ///
    /// ```swift
    /// for await total in db.stream(tracking: { try Int.fetchOne($0, sql: "SELECT sum(amount) FROM payments") ?? 0 }) {
    ///     print(total)
    /// }
    /// ```
    ///
    /// The tables that a closure depends on aren't known, so it runs again after every commit, and once for several
    /// commits that arrive meanwhile. A query is followed at the cost of the changed rows alone by `observeAll` and by
    /// live views.
    ///
    /// Values come where they are awaited: on the main actor if the loop runs there. The stream ends when the store is
    /// closed or the reader's task is cancelled; an error never ends it.
    ///
    /// - Parameters:
    ///   - bufferingPolicy: What is kept for a reader that is slow: the last value where nothing else is said.
    ///   - onError: Called with what `tracking` has thrown; it runs again after the next commit.
    public nonisolated func stream<Value: Sendable>(
        bufferingPolicy: AsyncStream<Value>.Continuation.BufferingPolicy = .bufferingNewest(1),
        onError: @escaping @Sendable (any Error) -> Void = { _ in },
        tracking: @escaping @Sendable (Database) throws -> Value
    ) -> AsyncStream<Value> { values(bufferingPolicy, onError: onError, tracking: tracking) { _ in true } }

    /// ``stream(bufferingPolicy:onError:tracking:)`` under the name that says what it is used for.
    public nonisolated func streamOnMainActor<Value: Sendable>(
        bufferingPolicy: AsyncStream<Value>.Continuation.BufferingPolicy = .bufferingNewest(1),
        onError: @escaping @Sendable (any Error) -> Void = { _ in },
        tracking: @escaping @Sendable (Database) throws -> Value
    ) -> AsyncStream<Value> { values(bufferingPolicy, onError: onError, tracking: tracking) { _ in true } }

    /// Like ``stream(bufferingPolicy:onError:tracking:)``, without values that equal the one before.
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
            let (rings, bell) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
            // Rung a last time when the store is closed.
            let observation = storage.engine.onCommit { bell.yield() }
            bell.yield()
            let task = Task {
                for await _ in rings {
                    do {
                        let value = try await storage.read(tracking)
                        if isWanted(value) { continuation.yield(value) }
                    } catch let error as StorageError where error.code == .closed {
                        break
                    } catch {
                        onError(error)
                    }
                }
                continuation.finish()
            }
            continuation.onTermination = { _ in
                observation.cancel()
                task.cancel()
            }
        }
    }
}
