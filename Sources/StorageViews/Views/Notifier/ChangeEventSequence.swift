internal import Synchronization

/// The changes that a ``SmartChangeNotifier`` reports, from a position on.
///
/// ```swift
/// let events: ChangeEventSequence = try await storage.changeNotifier.events(for: User.self)
/// for await event in events { print(event.position, event.tableName) }
/// ```
///
/// It is for one reader. It ends when the store is closed or the reader's task is cancelled; then, and when it is
/// released, it frees its resources. An error never ends it: if the store can't be read for a while, the next event is
/// a ``ChangeEvent/bulkChange(tableName:affectedCount:position:)``.
public struct ChangeEventSequence: AsyncSequence, Sendable {
    /// Commits after this position are reported.
    public let position: Int64
    private let subscription: Subscription

    init(position: Int64, handle: LiveHandle, pendingUpdate: PendingUpdate<ChangeEventUpdate>) {
        self.position = position
        subscription = Subscription(handle: handle, pendingUpdate: pendingUpdate)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(subscription: subscription) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let subscription: Subscription
        private var buffer: ArraySlice<ChangeEvent> = []

        fileprivate init(subscription: Subscription) { self.subscription = subscription }

        /// Returns the next event; nil when the task is cancelled or the store is closed.
        public mutating func next() async -> ChangeEvent? {
            if Task.isCancelled { return subscription.end() }
            if let event = buffer.popFirst() { return event }
            guard let update = await subscription.pendingUpdate.next() else { return subscription.end() }
            buffer = update.events[...]
            return buffer.popFirst()
        }
    }

    fileprivate final class Subscription: Sendable {
        let pendingUpdate: PendingUpdate<ChangeEventUpdate>
        private let handle: Mutex<LiveHandle?>

        init(handle: LiveHandle, pendingUpdate: PendingUpdate<ChangeEventUpdate>) {
            self.pendingUpdate = pendingUpdate
            self.handle = Mutex(handle)
        }

        /// Leaves the engine; there won't be another event.
        func end() -> ChangeEvent? {
            _ = handle.withLock { $0.take() }
            pendingUpdate.abandon()
            return nil
        }
    }
}
