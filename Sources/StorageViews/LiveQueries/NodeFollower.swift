package import StorageCore
internal import Synchronization

/// Follows the store with a node of its own, for a consumer that isn't a view: opens the node beside the engine,
/// retries if that fails, and releases it.
///
/// Isolation: `Sendable`, its state machine behind a mutex.
package final class NodeFollower<Node: LiveNode>: Sendable {
    private enum Phase: Sendable {
        /// Not started yet.
        case idle
        /// Its first value is being read.
        case opening
        /// Its first value couldn't be read, and is tried again later.
        case retrying
        case live(LiveHandle)
        /// Nothing will come any more: it was cancelled, the store is closed, or there is no answer to the question.
        case ended(StorageError?)
    }

    private struct State {
        var phase = Phase.idle
        var retries = RetryDelay()
    }

    private let state = Mutex(State())
    private let engine: SubscriptionEngine
    private let makeNode: @Sendable () throws -> Node
    private let pendingUpdate: PendingUpdate<Node.Update>
    private let onFailure: @Sendable (StorageError) -> Void
    private let known: KnownState?

    /// - Parameters:
    ///   - makeNode: Creates the node. An error means that the query can't be answered.
    ///   - pendingUpdate: Takes the updates, and the end.
    ///   - known: The state that the consumer already has; nil if none.
    ///   - onFailure: Called when the node can't be opened or reloaded; it retries unless the error is final. Closing
    ///     the store is no failure.
    package init(
        _ engine: SubscriptionEngine, _ makeNode: @escaping @Sendable () throws -> Node,
        _ pendingUpdate: PendingUpdate<Node.Update>, since known: KnownState? = nil,
        onFailure: @escaping @Sendable (StorageError) -> Void
    ) {
        self.engine = engine
        self.makeNode = makeNode
        self.pendingUpdate = pendingUpdate
        self.onFailure = onFailure
        self.known = known
    }

    /// Returns, once, why the query can't be answered; nil if that isn't known, or if the store was closed.
    package func takeFailure() -> StorageError? {
        state.withLock { state in
            guard case .ended(let error) = state.phase else { return nil }
            state.phase = .ended(nil)
            return error
        }
    }

    /// Starts, unless it was started before.
    package func start() {
        let isFirst = state.withLock { state in
            guard case .idle = state.phase else { return false }
            state.phase = .opening
            return true
        }
        if isFirst { Task { await open() } }
    }

    /// Stops delivering updates.
    package func cancel() {
        end(nil)
        pendingUpdate.abandon()
    }

    /// Reloads everything: steps didn't fit.
    package func readAgain() {
        guard case .live(let handle) = state.withLock({ $0.phase }) else { return }
        Task { [engine, onFailure] in
            do { try await engine.refresh(handle) } catch {
                let error = error.forSubscribers
                // The end of the store is no failure.
                if error.code != .closed { onFailure(error) }
            }
        }
    }

    private func open() async {
        do {
            let handle = try await engine.addReadingBeside(makeNode, pendingUpdate, since: known)
            // If it was cancelled meanwhile, the handle is released at the end of this block.
            state.withLock { state in
                guard case .opening = state.phase else { return }
                state = State(phase: .live(handle))
            }
        } catch {
            failed(error.forSubscribers)
        }
    }

    private func failed(_ error: StorageError) {
        guard !error.isFinalOfFirstRead else {
            // The end of the store is no failure.
            let failure = error.code == .closed ? nil : error
            guard end(failure) else { return }
            if let failure { onFailure(failure) }
            pendingUpdate.end()
            return
        }
        let delay = state.withLock { state -> Double? in
            guard case .opening = state.phase else { return nil }
            state.phase = .retrying
            return state.retries.next()
        }
        guard let delay else { return }
        onFailure(error)
        Task { [weak self] in
            try await Task.sleep(for: .seconds(delay))
            await self?.retry()
        }
    }

    private func retry() async {
        let isDue = state.withLock { state in
            guard case .retrying = state.phase else { return false }
            state.phase = .opening
            return true
        }
        if isDue { await open() }
    }

    /// - Returns: Whether it hadn't ended before.
    @discardableResult
    private func end(_ error: StorageError?) -> Bool {
        let last = state.withLock { state in
            defer { if case .ended = state.phase {} else { state.phase = .ended(error) } }
            return state.phase
        }
        // The handle is released here, outside the lock.
        if case .ended = last { return false }
        return true
    }
}
