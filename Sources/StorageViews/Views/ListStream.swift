package import StorageCore
internal import Synchronization

/// A list that is followed without a view: it hands each new state to whoever asked for it, on the engine's queue.
///
/// Isolation: `Sendable`, its state behind a mutex.
package final class ListStream<Item: Sendable>: Sendable {
    private struct State {
        var phase = Phase.opening
        var items: [Item] = []
        /// Whether steps didn't fit, so that those which follow don't either.
        var isBehind = false
        var retries = RetryDelay()
    }

    private enum Phase {
        /// It has no node yet, also where that couldn't be opened and is tried again.
        case opening
        case live(LiveHandle)
        case cancelled
    }

    private let state = Mutex(State())
    private let engine: SubscriptionEngine
    private let spec: ListSpec<Item>
    private let onUpdate: @Sendable ([Item]) -> Void
    private let onFailure: @Sendable (StorageError) -> Void
    private let onEnd: @Sendable () -> Void

    /// - Parameters:
    ///   - onUpdate: Takes the list, first as it is and then after each change.
    ///   - onFailure: Is called when the list can't be kept up to date; it goes on by itself.
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
        let old = state.withLock { state in
            defer { state.phase = .cancelled }
            return state.phase
        }
        // Its handle is given back here, outside of the lock.
        _ = old
    }

    private func open(_ engine: isolated SubscriptionEngine) {
        guard state.withLock({ if case .opening = $0.phase { true } else { false } }) else { return }
        do {
            let handle = try engine.add(
                ListNode(spec), PendingUpdate(immediately: { [weak self] in self?.take($0) }, onEnd: onEnd))
            // Where it was cancelled meanwhile, the handle is given back at the end of this block.
            state.withLock { state in
                if case .opening = state.phase { state.phase = .live(handle) }
            }
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
        guard case .live(let handle) = state.withLock({ $0.phase }) else { return }
        do { try engine.refresh(handle) } catch { onFailure(error.forSubscribers) }
    }
}

extension StorageError {
    /// Whether asking again is of no use.
    var isFinal: Bool { [.closed, .invalidName, .invalidQuery, .invalidArgument, .notFound].contains(code) }
}
