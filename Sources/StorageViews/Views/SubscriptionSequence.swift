internal import Synchronization

/// The updates of a subscription, for code without a screen.
///
/// ```swift
/// let snapshots: SubscriptionSequence<[User]> = users.snapshots
/// for await items in snapshots { show(items) }
/// ```
///
/// The sequence starts with the current value and keeps the subscription alive. It ends when the subscription is
/// cancelled, the store is closed, or the reader's task is cancelled. If the subscription has already ended, the
/// sequence consists of its last value.
///
/// A slow reader receives all pending updates as one element. Each iterator reads by itself: the first one from the
/// time the sequence was created, each further one from the time it requests its first element.
public struct SubscriptionSequence<Element: Sendable>: AsyncSequence, Sendable {
    private let read: @Sendable () async -> Element?
    private let isRead = IsRead()
    /// Begins another reader; nil if there can be one only.
    private var begin: (@MainActor @Sendable () -> SubscriptionSequence)?

    private final class IsRead: Sendable {
        let value = Mutex(false)
    }

    init<Update>(
        _ pendingUpdate: PendingUpdate<Update>, of view: any AnyObject & Sendable,
        _ element: @escaping @Sendable (Update) -> Element
    ) {
        read = {
            let update = await pendingUpdate.next()
            // The view must live as long as it has a reader.
            return withExtendedLifetime(view) { update.map(element) }
        }
    }

    private init(read: @escaping @Sendable () async -> Element?) { self.read = read }

    /// The same elements, each transformed by a closure.
    func map<Other: Sendable>(_ change: @escaping @Sendable (Element) -> Other) -> SubscriptionSequence<Other> {
        let read = read
        return SubscriptionSequence<Other>(read: { await read().map(change) })
    }

    /// The same for more than one iterator.
    ///
    /// - Parameter begin: Asks the subscription for the sequence again.
    func repeated(by begin: @escaping @MainActor @Sendable () -> SubscriptionSequence) -> SubscriptionSequence {
        var sequence = self
        sequence.begin = begin
        return sequence
    }

    public func makeAsyncIterator() -> Iterator {
        let isFirst = isRead.value.withLock { isRead in
            defer { isRead = true }
            return !isRead
        }
        return Iterator(read: isFirst ? read : nil, begin: begin)
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate var read: (@Sendable () async -> Element?)?
        fileprivate let begin: (@MainActor @Sendable () -> SubscriptionSequence)?

        /// Returns the next element; nil when the view is cancelled.
        public mutating func next() async -> Element? {
            if read == nil { read = await begin?().read }
            return await read?()
        }
    }
}
