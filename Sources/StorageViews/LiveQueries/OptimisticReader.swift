package import StorageCore
internal import StorageLog
internal import Synchronization

/// A value, and the position of the state that it was read from.
package typealias PositionedValue<Value: Sendable> = (value: Value, position: Int64)

/// Follows a live query and, while there are pending changes, reads it again with them applied.
///
/// Values never go backwards: each reflects a state at least as late as the one before. When a change has ended, the
/// next state that is read includes it if it was stored.
///
/// Isolation: `Sendable`, its state behind a mutex; one task reads at a time.
package final class OptimisticReader<Value: Sendable>: Sendable {
    private struct State {
        /// The last confirmed value that wasn't returned.
        var confirmed: PositionedValue<Value>?
        /// The position of the last value that was returned, and the changes applied to it.
        var shown: (position: Int64, changes: [Int])?
        var follower: Task<Void, Never>?
        var end: Result<Void, StorageError>?

        mutating func show(_ confirmed: PositionedValue<Value>) -> Step {
            shown = (confirmed.position, [])
            self.confirmed = nil
            return .show(confirmed)
        }
    }

    /// The next step of the reader.
    private enum Step {
        case show(PositionedValue<Value>)
        case read([OptimisticChangeRegistry.Change])
        case wait
        case end(Result<Void, StorageError>)
    }

    private let changes: OptimisticChangeRegistry
    private let tables: Set<String>?
    private let source: LiveValueSource<Value>
    private let onError: @Sendable (StorageError) -> Void
    private let state = Mutex(State())
    private let (rings, bell) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    private let observation: StorageObservation

    /// - Parameter tables: The tables that the query reads; nil if unknown.
    package init(
        _ source: LiveValueSource<Value>, _ changes: OptimisticChangeRegistry, of tables: Set<String>?,
        onError: @escaping @Sendable (StorageError) -> Void
    ) {
        (self.source, self.changes, self.tables, self.onError) = (source, changes, tables, onError)
        observation = changes.observe { [bell] in bell.yield() }
    }

    deinit { state.withLock { $0.follower }?.cancel() }

    /// The next value; nil where the store is closed, or the task is cancelled.
    ///
    /// - Throws: Why the query can't be answered.
    package func next() async throws(StorageError) -> OptimisticValue<Value>? {
        follow()
        var retries = RetryDelay()
        while !Task.isCancelled {
            switch step() {
            case .show(let confirmed):
                return OptimisticValue(value: confirmed.value, position: confirmed.position, pending: [])
            case .read(let changes):
                let rows = changes.flatMap(\.rows)
                do {
                    let read = try await source.read(rows)
                    state.withLock { $0.shown = (read.position, changes.map(\.id)) }
                    return OptimisticValue(
                        value: read.value, position: read.position, pending: Set(rows.map(\.name)))
                } catch {
                    let error = error.forSubscribers
                    // The end of the store or of the task is no failure.
                    if Task.isCancelled || error.code == .closed { return nil }
                    onError(error)
                    try? await Task.sleep(for: .seconds(retries.next()))
                }
            case .wait:
                var iterator = rings.makeAsyncIterator()
                if await iterator.next() == nil { return nil }
            case .end(.success): return nil
            case .end(.failure(let error)): throw error
            }
        }
        return nil
    }

    private func step() -> Step {
        let changes = changes.changes(of: tables)
        return state.withLock { state in
            if let end = state.end { return .end(end) }
            guard let shown = state.shown else {
                // The first value says whether the query can be answered.
                guard let confirmed = state.confirmed else { return .wait }
                guard changes.isEmpty else { return .read(changes) }
                return state.show(confirmed)
            }
            if changes.map(\.id) != shown.changes { return .read(changes) }
            guard let confirmed = state.confirmed, confirmed.position > shown.position else { return .wait }
            return changes.isEmpty ? state.show(confirmed) : .read(changes)
        }
    }

    /// Starts following the confirmed values, unless it was started before.
    private func follow() {
        state.withLock { state in
            guard state.follower == nil else { return }
            let (source, bell) = (source, bell)
            state.follower = Task { [weak self] in
                var end = Result<Void, StorageError>.success(())
                do throws(StorageError) {
                    while let confirmed = try await source.next() {
                        self?.state.withLock { $0.confirmed = confirmed }
                        bell.yield()
                    }
                } catch {
                    end = .failure(error)
                }
                self?.state.withLock { $0.end = end }
                bell.yield()
            }
        }
    }
}

/// The source of an ``OptimisticReader``'s values.
package struct LiveValueSource<Value: Sendable>: Sendable {
    /// The next confirmed value; nil where the store is closed.
    let next: @Sendable () async throws(StorageError) -> PositionedValue<Value>?
    /// Reads the current state as if rows were stored.
    let read: @Sendable ([OptimisticRow]) async throws -> PositionedValue<Value>

    package init(
        next: @escaping @Sendable () async throws(StorageError) -> PositionedValue<Value>?,
        read: @escaping @Sendable ([OptimisticRow]) async throws -> PositionedValue<Value>
    ) { (self.next, self.read) = (next, read) }
}
