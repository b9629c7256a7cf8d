public import StorageCore
internal import Synchronization

/// The snapshots or the differences of a ``LiveQuery``, beginning with the current result.
///
/// ```swift
/// let snapshots: LiveSequence<[User]> = storage.query(User.self).orderBy(\.name).live().snapshots
/// for try await users in snapshots { show(users) }
/// ```
///
/// Each iterator reads the store by itself, at its own pace: a slow reader receives all pending changes as one element, and
/// blocks neither the writer nor other readers. The sequence ends when the store is closed or the reader's task is cancelled,
/// and throws if the query can't be answered, for example because a column doesn't exist or SQLite refuses its first read. Other
/// errors don't end it: see ``LiveQuery/snapshots(onError:)``.
///
/// Isolation: `Sendable`; it can be read from any actor.
public struct LiveSequence<Element: Sendable>: AsyncSequence, Sendable {
    public typealias Failure = StorageError
    private let begin: @Sendable () -> @Sendable () async throws(StorageError) -> Element?

    /// - Parameter begin: Makes what reads one element after another.
    package init(_ begin: @escaping @Sendable () -> @Sendable () async throws(StorageError) -> Element?) {
        self.begin = begin
    }

    public func makeAsyncIterator() -> Iterator { Iterator(read: begin()) }

    /// Returns the sequence with another first element.
    ///
    /// - Parameter convert: Makes the first element of each iterator; nil to leave it out.
    func convertingFirst(_ convert: @escaping @Sendable (Element) -> Element?) -> LiveSequence {
        LiveSequence { [begin] in
            let read = begin()
            let isFirst = Atomic(true)
            return { () async throws(StorageError) -> Element? in
                guard let element = try await read() else { return nil }
                guard isFirst.exchange(false, ordering: .relaxed) else { return element }
                if let converted = convert(element) { return converted }
                return try await read()
            }
        }
    }

    /// Reads one element after another.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        fileprivate let read: @Sendable () async throws(StorageError) -> Element?

        /// Returns the next element; nil if the store is closed or the task is cancelled.
        ///
        /// - Throws: `StorageError` if the query can't be answered: with `invalid-name`, `invalid-query`,
        ///   `invalid-argument` or `not-found`, and for its first value with `database` or `limit-exceeded`.
        public mutating func next() async throws(StorageError) -> Element? { try await read() }

        /// Returns the next element; nil if the store is closed or the task is cancelled.
        ///
        /// - Throws: As ``next()`` does.
        public mutating func next(
            isolation actor: isolated (any Actor)?
        ) async throws(StorageError) -> Element? { try await read() }
    }
}

/// One reader of a node: turns its updates into elements.
///
/// Isolation: `Sendable`, its state behind a mutex; one task reads at a time.
final class LiveReader<Node: SteppedNode, State: Sendable, Element: Sendable>: Sendable {
    /// Turns an update and the known state into an element; returns nil if the update doesn't fit the state.
    typealias Transform = @Sendable (Node.Update, inout State) throws -> Element?

    private struct Progress {
        var state: State
        /// Whether an update was lost, so that those which follow don't fit.
        var isBehind = false
    }

    private let pendingUpdate = PendingUpdate<Node.Update>()
    private let follower: NodeFollower<Node>
    private let progress: Mutex<Progress>
    private let transform: Transform
    private let onError: @Sendable (StorageError) -> Void

    init(
        _ engine: SubscriptionEngine, _ makeNode: @escaping @Sendable () throws -> Node, from state: State,
        since known: KnownState? = nil, onError: @escaping @Sendable (StorageError) -> Void,
        _ transform: @escaping Transform
    ) {
        follower = NodeFollower(engine, makeNode, pendingUpdate, since: known, onFailure: onError)
        progress = Mutex(Progress(state: state))
        self.transform = transform
        self.onError = onError
    }

    deinit { follower.cancel() }

    func next() async throws(StorageError) -> Element? {
        follower.start()
        while let update = await pendingUpdate.next() {
            if let error = update.error {
                onError(error)
                continue
            }
            do {
                if let element = try take(update) { return element }
                follower.readAgain()
            } catch {
                onError(error.forSubscribers)
            }
        }
        if let failure = follower.takeFailure() { throw failure }
        return nil
    }

    private func take(_ update: Node.Update) throws -> Element? {
        try progress.withLock { progress in
            if update.whole == nil, progress.isBehind { return nil }
            progress.isBehind = true
            let element = try transform(update, &progress.state)
            progress.isBehind = element == nil
            return element
        }
    }
}
