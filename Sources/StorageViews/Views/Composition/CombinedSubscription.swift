internal import Observation
public import StorageCore

/// Combines several live views, for example those of a screen that shows its rows once all views are loaded.
///
/// ```swift
/// let open = QuerySubscription(storage.query(Order.self).where { $0.status == "open" })
/// let done = QuerySubscription(storage.query(Order.self).where { $0.status == "done" })
/// let screen = CombinedSubscription {
///     open
///     done
/// }
/// for await _ in screen.positions { show(open.items, done.items) }
/// ```
///
/// Views of one store change together: between two turns of the main actor all of them show the same state, so an order
/// that is done is always in exactly one of the lists. Code called in the middle of such a turn, such as `onChange` of
/// `withObservationTracking`, must read again in the next one.
///
/// It retains the views and has no observable state of its own: reading it observes the views.
@MainActor
public final class CombinedSubscription: SubscriptionStatus {
    /// The views.
    public let subscriptions: [StorageSubscription]
    private var subscribers: [Subscriber] = []
    private var isWatching = false

    private struct Subscriber {
        weak var pendingUpdate: PendingUpdate<ValueDifference<Int64>>?
        /// What the views were like when it was sent a position last; nil before that.
        var seen: [ViewState]?
    }

    /// Differs after each change of a view, and when an error appears or disappears. Positions needn't: a page may be turned,
    /// and those of different stores have nothing to do with each other.
    private struct ViewState: Equatable {
        let refreshCount: Int
        let hasError: Bool
    }

    /// Combines views.
    public init(@SubscriptionBuilder _ subscriptions: () -> [StorageSubscription]) {
        self.subscriptions = subscriptions()
    }

    // MARK: All of them

    /// Whether any view is loading a value.
    public var isLoading: Bool { subscriptions.contains { $0.isLoading } }
    /// The fraction of the views that aren't loading, from 0 to 1.
    public var loadingProgress: Double {
        guard !subscriptions.isEmpty else { return 1 }
        return Double(subscriptions.count { !$0.isLoading }) / Double(subscriptions.count)
    }
    /// Whether a view couldn't be kept up to date.
    public var hasErrors: Bool { subscriptions.contains { $0.error != nil } }
    /// The errors of the views that couldn't be kept up to date, in the order of the views.
    public var errors: [StorageError] { subscriptions.compactMap(\.error) }
    /// The first error of a view; nil if there is none.
    public var error: StorageError? { errors.first }
    /// Whether any view follows its store.
    public var isActive: Bool { subscriptions.contains { $0.isActive } }
    /// The position of the last change of any view. If all views are of one store, they all show the state after it.
    public var position: Int64 { subscriptions.map(\.position).max() ?? 0 }

    /// Reloads all views.
    ///
    /// ```swift
    /// if screen.hasErrors { await screen.refreshAll() }
    /// ```
    public func refreshAll() async {
        await withTaskGroup(of: Void.self) { group in
            for subscription in subscriptions { group.addTask { await subscription.refresh() } }
        }
    }

    /// Reloads all views.
    public func refresh() async { await refreshAll() }

    /// Ends all views; from then on their values stay as they are.
    public func cancel() {
        for subscription in subscriptions { subscription.cancel() }
    }

    // MARK: Steps

    /// The ``position`` once every view has its first value, and again whenever any of them has changed, after all of
    /// them have been updated.
    ///
    /// It is also sent when an error appears or disappears. The same position may be sent again: after a view has
    /// turned to another page, or after a commit of a store other than the one with the highest position.
    public var positions: SubscriptionSequence<Int64> {
        let pendingUpdate = PendingUpdate<ValueDifference<Int64>>()
        subscribers.append(Subscriber(pendingUpdate: pendingUpdate))
        emit()
        watch()
        return SubscriptionSequence(pendingUpdate, of: self) { $0.new }.repeated { self.positions }
    }

    /// Waits for the next change of any view. It is noticed during the change, and emitted in a later turn of the main
    /// actor, when the change is complete.
    private func watch() {
        guard !isWatching, !subscribers.isEmpty else { return }
        isWatching = true
        withObservationTracking {
            for subscription in subscriptions {
                _ = (subscription.lastRefreshTime, subscription.error, subscription.isActive)
            }
        } onChange: { [weak self] in
            Task { @MainActor in self?.changed() }
        }
    }

    private func changed() {
        isWatching = false
        subscribers.removeAll { $0.pendingUpdate == nil }
        emit()
        watch()
    }

    private func emit() {
        let latest = ValueDifference(position: position, old: nil, new: position)
        let states = subscriptions.map { ViewState(refreshCount: $0.refreshCount, hasError: $0.error != nil) }
        let hasValues = subscriptions.allSatisfy { $0.refreshCount > 0 || !$0.isLoading }
        for index in subscribers.indices where hasValues && subscribers[index].seen != states {
            subscribers[index].seen = states
            subscribers[index].pendingUpdate?.put(latest)
        }
        guard !isActive else { return }
        for subscriber in subscribers { subscriber.pendingUpdate?.end() }
        subscribers = []
    }
}
