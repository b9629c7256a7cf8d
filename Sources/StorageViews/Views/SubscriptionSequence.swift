/// The updates of a subscription, for code without a screen. It begins with the current value, keeps the subscription
/// alive, and
/// ends when that is cancelled, the store is closed, or the reader's task is cancelled.
///
/// A slow reader receives all pending updates as one element. Each sequence is for one reader; ask the
/// subscription for another one where there are more.
public struct SubscriptionSequence<Element: Sendable>: AsyncSequence, Sendable {
    private let read: @Sendable () async -> Element?

    init<Update>(
        _ pendingUpdate: PendingUpdate<Update>, of view: any AnyObject & Sendable,
        _ element: @escaping @Sendable (Update) -> Element
    ) {
        read = {
            let update = await pendingUpdate.next()
            // The view must live as long as somebody reads.
            return withExtendedLifetime(view) { update.map(element) }
        }
    }

    private init(read: @escaping @Sendable () async -> Element?) { self.read = read }

    /// The same elements, each turned into something else.
    func map<Other: Sendable>(_ change: @escaping @Sendable (Element) -> Other) -> SubscriptionSequence<Other> {
        let read = read
        return SubscriptionSequence<Other>(read: { await read().map(change) })
    }

    public func makeAsyncIterator() -> Iterator { Iterator(read: read) }

    public struct Iterator: AsyncIteratorProtocol {
        let read: @Sendable () async -> Element?

        /// Returns the next element; nil when the view is cancelled.
        public mutating func next() async -> Element? { await read() }
    }
}
