package import StorageCore
package import StorageLog
internal import Synchronization

/// A value, and the position of the state that it was read from.
package typealias PositionedValue<Value: Sendable> = (value: Value, position: Int64)

/// Follows a live query and, while there are pending changes, reads it again with them applied: after each change of the
/// tables that it reads, as pending changes may show any of their rows, also those that the confirmed value ignores.
///
/// Values never go backwards: each reflects a state at least as late as the one before. When a change has ended, the
/// next state that is read includes it if it was stored.
///
/// No commit is missed while changes are shown. Commits are counted from before the first of these reads on; the count is
/// noted before a state is read, and kept only where that read has succeeded. A commit is counted once a read would find
/// it, and the reader is woken behind that. So a commit that a read lacks is counted behind its note, the reader doesn't
/// wait while the count differs from the note, and the bell, which keeps a ring, wakes it where it has begun to wait.
///
/// Isolation: `Sendable`, its state behind a mutex; one task reads at a time.
package final class OptimisticReader<Value: Sendable>: Sendable {
    private struct State {
        /// The last confirmed value that wasn't returned.
        var confirmed: PositionedValue<Value>?
        /// The changes applied to the last value that was returned, the last position at which it was right, and how many
        /// commits had been counted before that state was read.
        var shown: (position: Int64, changes: [Int], commits: Int)?
        var follower: Task<Void, Never>?
        /// Counts commits; nil while no changes are shown.
        var observation: StorageObservation?
        var end: Result<Void, StorageError>?

        mutating func show(_ confirmed: PositionedValue<Value>) -> Step {
            shown = (confirmed.position, [], 0)
            self.confirmed = nil
            return .show(confirmed)
        }
    }

    /// The next step of the reader.
    private enum Step {
        case show(PositionedValue<Value>)
        /// Reads with changes applied, if anything has changed after a position; in any case where that is nil.
        case read([OptimisticChangeRegistry.Change], since: Int64?)
        case wait
        case end(Result<Void, StorageError>)
    }

    private let changes: OptimisticChangeRegistry
    private let tables: Set<String>?
    private let source: LiveValueSource<Value>
    private let onError: @Sendable (StorageError) -> Void
    private let state = Mutex(State())
    private let (rings, bell) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    private let commits: CommitCount
    private let observation: StorageObservation

    /// - Parameter tables: The tables that the query reads; nil if unknown.
    package init(
        _ source: LiveValueSource<Value>, _ changes: OptimisticChangeRegistry, of tables: Set<String>?,
        onError: @escaping @Sendable (StorageError) -> Void
    ) {
        (self.source, self.changes, self.tables, self.onError) = (source, changes, tables, onError)
        commits = CommitCount(bell)
        observation = changes.observe { [bell] in bell.yield() }
    }

    deinit { state.withLock { $0.follower }?.cancel() }

    /// The next value; nil if the store is closed, or the task is cancelled.
    ///
    /// - Throws: Why the query can't be answered.
    package func next() async throws(StorageError) -> OptimisticValue<Value>? {
        follow()
        var retries = RetryDelay()
        while !Task.isCancelled {
            switch step() {
            case .show(let confirmed):
                return OptimisticValue(value: confirmed.value, position: confirmed.position, pending: [])
            case .read(let changes, let position):
                do {
                    if let value = try await read(changes, since: position) { return value }
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

    /// - Returns: Nil if nothing that the query reads has changed after the position.
    private func read(
        _ changes: [OptimisticChangeRegistry.Change], since position: Int64?
    ) async throws -> OptimisticValue<Value>? {
        countCommits(!changes.isEmpty)
        // Before the state is read: what comes later is counted again.
        let count = commits.value
        let rows = changes.flatMap(\.rows)
        let read = try await source.read(rows, position)
        state.withLock { $0.shown = (max(read.position, position ?? 0), changes.map(\.id), count) }
        return read.value.map { value in
            OptimisticValue(value: value, position: read.position, pending: Set(rows.map(\.name)))
        }
    }

    /// Counts commits from here on, or no more.
    private func countCommits(_ isWanted: Bool) {
        let known = state.withLock { $0.observation }
        guard isWanted != (known != nil) else { return }
        // Outside of the lock: the source may call the closure at once. One task reads at a time, so nobody else does this.
        let new = isWanted ? source.onCommit { [commits] in commits.add() } : nil
        state.withLock { $0.observation = new }
    }

    private func step() -> Step {
        let changes = changes.changes(of: tables)
        return state.withLock { state in
            if let end = state.end { return .end(end) }
            guard let shown = state.shown else {
                // The first value says whether the query can be answered.
                guard let confirmed = state.confirmed else { return .wait }
                guard changes.isEmpty else { return .read(changes, since: nil) }
                return state.show(confirmed)
            }
            if changes.map(\.id) != shown.changes { return .read(changes, since: nil) }
            if let confirmed = state.confirmed, confirmed.position > shown.position {
                return changes.isEmpty ? state.show(confirmed) : .read(changes, since: nil)
            }
            guard !changes.isEmpty, commits.value != shown.commits else { return .wait }
            return .read(changes, since: shown.position)
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

/// The number of commits that have been reported to a reader, which each of them wakes.
///
/// Isolation: `Sendable`, by an atomic number; it is added to where commits are reported.
private final class CommitCount: Sendable {
    private let number = Atomic(0)
    private let bell: AsyncStream<Void>.Continuation

    init(_ bell: AsyncStream<Void>.Continuation) { self.bell = bell }

    var value: Int { number.load(ordering: .acquiring) }

    func add() {
        // In this order: who is woken finds the number.
        number.add(1, ordering: .releasing)
        bell.yield()
    }
}

/// The source of an ``OptimisticReader``'s values.
package struct LiveValueSource<Value: Sendable>: Sendable {
    /// The next confirmed value; nil if the store is closed.
    let next: @Sendable () async throws(StorageError) -> PositionedValue<Value>?
    /// Reads the current state as if rows were stored. There is no value if nothing that the last read has read has
    /// changed behind the position, unless that is nil.
    let read: @Sendable (_ rows: [OptimisticRow], _ position: Int64?) async throws -> (value: Value?, position: Int64)
    /// Calls a closure after each commit, until the observation is released.
    let onCommit: @Sendable (@escaping @Sendable () -> Void) -> StorageObservation

    package init(
        next: @escaping @Sendable () async throws(StorageError) -> PositionedValue<Value>?,
        read:
            @escaping @Sendable (_ rows: [OptimisticRow], _ position: Int64?) async throws -> (
                value: Value?, position: Int64
            ),
        onCommit: @escaping @Sendable (@escaping @Sendable () -> Void) -> StorageObservation
    ) { (self.next, self.read, self.onCommit) = (next, read, onCommit) }
}
