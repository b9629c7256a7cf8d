package import StorageCore
internal import Synchronization

/// A list that is followed without a view: it hands each new state to whoever asked for it, on the engine's queue.
///
/// Isolation: `Sendable`, its state behind a mutex.
package final class ListStream<Item: Sendable>: Sendable {
    private struct State {
        var items: [Item] = []
        var handle: LiveHandle?
        /// Whether steps didn't fit, so that those which follow don't either.
        var isBehind = false
        var isCancelled = false
        var retries = RetryDelay()
    }

    private let state = Mutex(State())
    private let engine: SubscriptionEngine
    private let spec: ListSpec<Item>
    private let onUpdate: @Sendable ([Item]) -> Void
    private let onFailure: @Sendable (StorageError) -> Void
    private let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - onUpdate: Takes the list, first as it is and then after each change.
    ///   - onFailure: Is told when the list can't be kept up to date; it goes on by itself.
    ///   - onEnd: Is called when the store is closed, or when the question is one that can't be answered.
    package init(
        _ engine: SubscriptionEngine, _ spec: ListSpec<Item>, onUpdate: @escaping @Sendable ([Item]) -> Void,
        onFailure: @escaping @Sendable (StorageError) -> Void, onEnd: @escaping @Sendable () -> Void
    ) {
        self.engine = engine
        self.spec = spec
        self.onUpdate = onUpdate
        self.onFailure = onFailure
        self.onEnd = onEnd
    }

    /// Begins; the first list comes soon after.
    package func start() { engine.perform { self.open($0) } }

    /// Hands over nothing any more.
    package func cancel() {
        let handle = state.withLock { state in
            state.isCancelled = true
            return state.handle.take()
        }
        // Given back here, outside of the lock.
        _ = handle
    }

    private func open(_ engine: isolated SubscriptionEngine) {
        guard !state.withLock({ $0.isCancelled }) else { return }
        do {
            let handle = try engine.add(
                ListNode(spec), PendingUpdate(immediately: { [weak self] in self?.take($0) }, onEnd: onEnd))
            let isLate = state.withLock { state in
                if !state.isCancelled { state.handle = handle }
                return state.isCancelled
            }
            if isLate { return }
        } catch {
            let error = error.forSubscribers
            onFailure(error)
            guard !error.isFinal else { return onEnd() }
            engine.perform(after: state.withLock { $0.retries.next() }) { [weak self] in self?.open($0) }
        }
    }

    private func take(_ update: ListUpdate<Item>) {
        if let error = update.error { return onFailure(error) }
        let items = state.withLock { state -> [Item]? in
            state.isBehind = update.whole == nil && state.isBehind || !update.fits(state.items)
            guard !state.isBehind else { return nil }
            update.apply(to: &state.items)
            return state.items
        }
        if let items { onUpdate(items) } else { engine.perform { [weak self] in self?.readAgain($0) } }
    }

    private func readAgain(_ engine: isolated SubscriptionEngine) {
        guard let handle = state.withLock({ $0.handle }) else { return }
        do { try engine.refresh(handle) } catch { onFailure(error.forSubscribers) }
    }
}

extension StorageError {
    /// Whether asking again is of no use.
    var isFinal: Bool { [.closed, .invalidName, .invalidQuery, .invalidArgument, .notFound].contains(code) }
}
