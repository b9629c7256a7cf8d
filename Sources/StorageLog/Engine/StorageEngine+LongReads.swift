package import GRDB
internal import StorageCore
internal import Synchronization

extension StorageEngine {
    /// Reads one state of the store without a limit of time: to verify it, to build a snapshot, to read much of the log. Such
    /// reads have connections of their own, ``StorageConfig/longReaderCount``, so that other reads never wait for them; further
    /// long reads wait for a free one.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it has a connection.
    package func readLong<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await longReads.pass { try await self.read(body) }
    }

    /// Reads one state of the store for a live query or view that begins. Such reads have two connections of their own: they may
    /// take long, and queries that are up to date already must not wait for them.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before it has a connection.
    package func readFirst<Result: Sendable>(
        _ body: @escaping @Sendable (GRDB.Database) throws -> Result
    ) async throws -> Result {
        try await firstReads.pass { try await self.read(body) }
    }

    /// Runs a rebuild, once those that were called before have ended.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before its turn; rethrows the errors of `body`.
    package func rebuilding<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await rebuilds.pass(body)
    }
}

/// Admits a limited number of tasks at a time, in the order of their calls.
///
/// Isolation: `Sendable`, its state behind a mutex.
final class Lane: Sendable {
    private struct State {
        var free: Int
        var next = 0
        var waiting: [(id: Int, continuation: CheckedContinuation<Void, any Error>)] = []
    }

    private let state: Mutex<State>

    init(width: Int) { state = Mutex(State(free: width)) }

    /// Runs `body` when it is this task's turn.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before its turn; rethrows the errors of `body`.
    func pass<Result>(_ body: () async throws -> Result) async throws -> Result {
        try await enter()
        defer { leave() }
        return try await body()
    }

    private func enter() async throws {
        let id = state.withLock { state in
            state.next += 1
            return state.next
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let passes: Bool? = state.withLock { state in
                    guard !Task.isCancelled else { return nil }
                    if state.free > 0 {
                        state.free -= 1
                        return true
                    }
                    state.waiting.append((id, continuation))
                    return false
                }
                switch passes {
                case true?: continuation.resume()
                case false?: break
                case nil: continuation.resume(throwing: CancellationError())
                }
            }
        } onCancel: {
            let cancelled = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                guard let index = state.waiting.firstIndex(where: { $0.id == id }) else { return nil }
                return state.waiting.remove(at: index).continuation
            }
            cancelled?.resume(throwing: CancellationError())
        }
    }

    private func leave() {
        let next = state.withLock { state -> CheckedContinuation<Void, any Error>? in
            guard !state.waiting.isEmpty else {
                state.free += 1
                return nil
            }
            return state.waiting.removeFirst().continuation
        }
        next?.resume()
    }
}
