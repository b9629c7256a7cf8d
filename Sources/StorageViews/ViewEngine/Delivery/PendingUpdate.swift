internal import Synchronization

/// The updates that one consumer hasn't received yet, composed into one.
///
/// Invariants:
/// - The consumer gets every update, in order, once: by itself, as part of a composed one, or within one that holds
///   everything.
/// - No more than one update is pending, nor more steps than the limit that came with the last one.
/// - The end follows the last update, and nothing follows the end.
///
/// Isolation: `Sendable`, its state behind a mutex. Updates are added by one producer: the engine's queue, or the main
/// actor for readers of a view.
package final class PendingUpdate<Update: ComposableUpdate>: Sendable {
    private enum State {
        case empty
        case pending(Update)
        /// A reader waits for the next update.
        case awaited(CheckedContinuation<Update?, Never>)
        /// No more updates; the last one may still be pending.
        case ended(last: Update?)
    }

    private enum Consumer: Sendable {
        /// Receives what is pending when the ``DeliveryQueue`` drains.
        case view(take: @MainActor @Sendable (Update) -> Void, end: @MainActor @Sendable () -> Void)
        /// Takes each update at once, so that none is ever pending.
        case closure(take: @Sendable (Update) -> Void, end: @Sendable () -> Void)
        /// Takes what is pending by ``next()``.
        case sequence
    }

    private let state = Mutex(State.empty)
    private let consumer: Consumer
    /// What was taken out for a view and not handed over yet, in order: more than one only where the queue is drained
    /// within an update.
    @MainActor private var takenOut: [Update] = []
    /// Whether the view is being handed an update.
    @MainActor private var isHandingOver = false
    /// Whether the end was taken out and not handed over yet.
    @MainActor private var hasTakenOutEnd = false

    /// For a reader of ``next()``.
    package init() { consumer = .sequence }

    /// For a view.
    package init(
        onMainActor take: @escaping @MainActor @Sendable (Update) -> Void,
        onEnd end: @escaping @MainActor @Sendable () -> Void
    ) {
        consumer = .view(take: take, end: end)
    }

    /// For a closure that is called on the engine's queue, where the step that has made the update is over.
    package init(
        immediately take: @escaping @Sendable (Update) -> Void, onEnd end: @escaping @Sendable () -> Void = {}
    ) {
        consumer = .closure(take: take, end: end)
    }

    /// Adds an update, or resumes the waiting reader with it.
    ///
    /// - Parameters:
    ///   - limit: The most steps that may be pending.
    ///   - whole: Everything, this update included: replaces the pending steps if they exceed the limit.
    /// - Returns: Whether the ``DeliveryQueue`` has to be drained: something is pending for a view, and nothing was
    ///   before.
    @discardableResult
    package func put(_ update: Update, limit: Int = .max, whole: () -> Update? = { nil }) -> Bool {
        switch consumer {
        case .view: return compose(update, limit: limit, whole: whole)
        case .sequence: _ = compose(update, limit: limit, whole: whole)
        case .closure(let take, _): if !hasEnded { take(update) }
        }
        return false
    }

    /// Nothing comes after this.
    ///
    /// - Returns: As ``put(_:limit:whole:)`` does.
    @discardableResult
    package func end() -> Bool {
        let (wasEmpty, hadEnded, reader) = state.withLock { state in
            switch state {
            case .empty:
                state = .ended(last: nil)
                return (true, false, CheckedContinuation<Update?, Never>?.none)
            case .pending(let last):
                state = .ended(last: last)
                return (false, false, nil)
            case .awaited(let reader):
                state = .ended(last: nil)
                return (true, false, reader)
            case .ended: return (false, true, nil)
            }
        }
        reader?.resume(returning: nil)
        switch consumer {
        case .view: return wasEmpty
        case .closure(_, let end): if !hadEnded { end() }
        case .sequence: break
        }
        return false
    }

    private var hasEnded: Bool {
        state.withLock { if case .ended = $0 { true } else { false } }
    }

    /// - Returns: Whether something is pending now, and nothing was before.
    private func compose(_ update: Update, limit: Int, whole: () -> Update?) -> Bool {
        var reader: CheckedContinuation<Update?, Never>?
        let (isFirst, isTooMuch) = state.withLock { state in
            switch state {
            case .empty:
                state = .pending(update)
                return (true, update.weight > limit)
            case .pending(var pending):
                // Uniquely referenced meanwhile, so that it is composed in place.
                state = .empty
                pending.append(update)
                state = .pending(pending)
                return (false, pending.weight > limit)
            case .awaited(let waiting):
                state = .empty
                reader = waiting
                return (false, false)
            case .ended: return (false, false)
            }
        }
        reader?.resume(returning: update)
        if isTooMuch, let whole = whole() {
            // A reader that has received the steps meanwhile has everything.
            state.withLock { if case .pending = $0 { $0 = .pending(whole) } }
        }
        return isFirst
    }
}

// MARK: Sequences

extension PendingUpdate {
    /// Waits for the next update; nil after the end, or if the task is cancelled.
    package func next() async -> Update? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let (known, isKnown) = state.withLock { state -> (Update?, Bool) in
                    switch state {
                    case .pending(let update):
                        state = .empty
                        return (update, true)
                    case .ended(let last):
                        state = .ended(last: nil)
                        return (last, true)
                    // One reader only: a second one gets nil while the first one waits.
                    case .awaited: return (nil, true)
                    case .empty where Task.isCancelled: return (nil, true)
                    case .empty:
                        state = .awaited(continuation)
                        return (nil, false)
                    }
                }
                if isKnown { continuation.resume(returning: known) }
            }
        } onCancel: {
            let reader = state.withLock { state -> CheckedContinuation<Update?, Never>? in
                guard case .awaited(let reader) = state else { return nil }
                state = .empty
                return reader
            }
            reader?.resume(returning: nil)
        }
    }

    /// Drops what is pending and all later updates, because the reader is gone.
    package func abandon() {
        end()
        state.withLock { $0 = .ended(last: nil) }
    }
}

// MARK: Views

extension PendingUpdate: QueuedUpdate {
    package var isForView: Bool { if case .view = consumer { true } else { false } }

    @MainActor package func takeOut() {
        let (update, isEnd) = state.withLock { state -> (Update?, Bool) in
            switch state {
            case .pending(let update):
                state = .empty
                return (update, false)
            case .ended(let last):
                state = .ended(last: nil)
                return (last, true)
            case .empty, .awaited: return (nil, false)
            }
        }
        if let update { takenOut.append(update) }
        if isEnd { hasTakenOutEnd = true }
    }

    @MainActor package func handOverUpdates() {
        guard case .view(let take, _) = consumer, !isHandingOver else { return }
        isHandingOver = true
        while !takenOut.isEmpty { take(takenOut.removeFirst()) }
        isHandingOver = false
    }

    @MainActor package func handOverEnd() {
        guard case .view(_, let end) = consumer, hasTakenOutEnd else { return }
        hasTakenOutEnd = false
        end()
    }
}
