public import StorageCore
public import StorageLog
public import StorageRouting

/// The result of a query, kept up to date, for use on any actor.
///
/// ```swift
/// let adults = storage.query(User.self).where { $0.age >= 18 }.orderBy(\.name).limit(50).live()
/// for try await users in adults.snapshots { … }
/// for try await difference in adults.differences { difference.apply(to: &users) }
/// ```
///
/// A live query is a description: it costs nothing until one of its sequences is read. Each reader follows the store by
/// itself; a commit costs each reader as much as the changed rows, as with a view. The first value is read on a
/// separate connection, so that a query over many rows delays no other query.
///
/// On the main actor, views such as ``QuerySubscription`` show the same results as observable properties.
///
/// Isolation: `Sendable`; it can be created and read on any actor.
public struct LiveQuery<Value: Sendable, Difference: Sendable>: Sendable {
    /// Receives the errors that don't end a sequence.
    public typealias ErrorHandler = @Sendable (StorageError) -> Void

    private let readSnapshots: @Sendable (@escaping ErrorHandler) -> LiveSequence<Value>
    private let readDifferences: @Sendable (_ since: KnownState?, @escaping ErrorHandler) -> LiveSequence<Difference>
    private let readOptimistic: @Sendable (@escaping ErrorHandler) -> LiveSequence<OptimisticValue<Value>>
    private let explainNode: @Sendable () async throws -> SubscriptionExplanation?

    /// Creates a live query that follows a source other than a node.
    package init(
        snapshots: @escaping @Sendable (@escaping ErrorHandler) -> LiveSequence<Value>,
        differences: @escaping @Sendable (@escaping ErrorHandler) -> LiveSequence<Difference>,
        optimistic: @escaping @Sendable (@escaping ErrorHandler) -> LiveSequence<OptimisticValue<Value>>,
        explain: @escaping @Sendable () async throws -> SubscriptionExplanation?
    ) {
        readSnapshots = snapshots
        readDifferences = { _, onError in differences(onError) }
        readOptimistic = optimistic
        explainNode = explain
    }

    /// The current result, and the result after each change.
    public var snapshots: LiveSequence<Value> { snapshots { _ in } }

    /// The current result, and then the difference from each state to the next.
    public var differences: LiveSequence<Difference> { differences { _ in } }

    /// The current result, and the result after each change.
    ///
    /// - Parameter onError: Called on any thread when the query can't be kept up to date. The sequence retries with
    ///   increasing delays and then continues.
    public func snapshots(onError: @escaping ErrorHandler) -> LiveSequence<Value> { readSnapshots(onError) }

    /// The current result, and then the difference from each state to the next.
    ///
    /// - Parameter onError: Called on any thread when the query can't be kept up to date. The sequence retries with
    ///   increasing delays and then continues with the whole result.
    public func differences(onError: @escaping ErrorHandler) -> LiveSequence<Difference> {
        readDifferences(nil, onError)
    }

    /// The difference from the state at a position to the current one, and then from each state to the next.
    ///
    /// Use it for a reader that was away, such as a client that lost its connection.
    ///
    /// ```swift
    /// var (users, position) = ([User](), Int64(0))
    /// for try await difference in live.differences {
    ///     difference.apply(to: &users)
    ///     position = difference.position
    /// }
    /// // Later, also in another process that knows both:
    /// for try await difference in live.differences(since: position) { difference.apply(to: &users) }
    /// ```
    ///
    /// If nothing has changed, there is no first difference. The whole result is sent instead of steps if more than
    /// 20,000 events follow the position, if the entity has more than 200,000 rows, if its columns have changed, if its
    /// rows at that position can't be read, or if the log doesn't have the position, for example because the store was
    /// restored from a backup. It is also sent if the result depends on what this reader was shown before: for a
    /// full-text search, and for groups that are kept without rows or are in the order in which they appeared. A single
    /// value, such as a count, is always sent as it is, and so is the result of SQL (`storage.live(tracking:)`). A reader
    /// that still has its value receives the steps in these cases too, from `differences(from:)`.
    ///
    /// The first difference costs as much as reading the entity at that position with `asOf`.
    ///
    /// A position is valid for one history only. If the store may be replaced by a restored copy in the meantime, keep
    /// a token (`storage.changeToken(at:)`) and pass it instead.
    ///
    /// - Parameters:
    ///   - position: The position of the last difference that was applied.
    ///   - onError: As for ``differences(onError:)``.
    public func differences(
        since position: Int64, onError: @escaping ErrorHandler = { _ in }
    ) -> LiveSequence<Difference> { readDifferences(.position(position), onError) }

    /// The difference from the state of a token to the current one, and then from each state to the next.
    ///
    /// The whole result is sent if the token belongs to another history than this store's.
    ///
    /// - Parameters:
    ///   - token: The token for the position of the last difference that was applied.
    ///   - onError: As for ``differences(onError:)``.
    public func differences(
        since token: ChangeToken, onError: @escaping ErrorHandler = { _ in }
    ) -> LiveSequence<Difference> { readDifferences(.token(token), onError) }

    /// The current result with the pending changes, and the result after each change.
    ///
    /// Changes that `storage.optimistically(…)` is about to store are shown before they are stored.
    ///
    /// ```swift
    /// for try await tasks in storage.query(Task.self).orderBy(\.due).live().optimistic {
    ///     show(tasks.value) { task in tasks.isPending(task) ? .dimmed : .normal }
    /// }
    /// ```
    ///
    /// While changes are pending, the query runs again after each change, pending or stored, of the tables that it
    /// reads, and may send the same result again; otherwise it costs as much as ``snapshots``. A full-text search reads
    /// stored texts only, so it doesn't find new ones. All other sequences and views show only what is stored.
    public var optimistic: LiveSequence<OptimisticValue<Value>> { optimistic { _ in } }

    /// The current result with the changes that are pending, and the result after each change, as ``optimistic``.
    ///
    /// - Parameter onError: As for ``snapshots(onError:)``.
    public func optimistic(onError: @escaping ErrorHandler) -> LiveSequence<OptimisticValue<Value>> {
        readOptimistic(onError)
    }

    /// How changes of each table reach the query, whether it applies them or runs again and why, and which index is missing.
    ///
    /// `description` of the returned explanation lists it table by table: see ``SubscriptionExplanation``. It costs as
    /// much as the first value of ``snapshots``.
    ///
    /// - Throws: `StorageError` if the query can't be answered, or with `closed`.
    public func explain() async throws -> SubscriptionExplanation? { try await explainNode() }
}

extension LiveQuery {
    /// Follows a result that changes in steps, such as a list.
    ///
    /// - Parameter convert: Turns the node's updates into those that are shown.
    init<Node: SteppedNode, Update: SteppedUpdate>(
        _ engine: SubscriptionEngine, _ makeNode: @escaping @Sendable () throws -> Node,
        _ convert: @escaping @Sendable (Node.Update) throws -> Update
    ) where Update.Whole == Value, Update.Difference == Difference {
        let values = NodeValues(engine, makeNode, from: Update.Whole()) { update, value in
            let update = try convert(update)
            guard update.fits(value) else { return Value?.none }
            update.apply(to: &value)
            return value
        }
        readSnapshots = values.snapshots
        readOptimistic = values.optimistic
        readDifferences = { known, onError in
            LiveSequence<Difference> {
                let reader = LiveReader(engine, makeNode, from: (), since: known, onError: onError) { update, _ in
                    try convert(update).difference
                }
                return { () async throws(StorageError) -> Difference? in try await reader.next() }
            }
        }
        explainNode = { try await engine.explain(nodeOf: makeNode) }
    }

    /// Follows a single value.
    ///
    /// - Parameter read: Reads the value from what the node shows.
    init<Node: SteppedNode>(
        _ engine: SubscriptionEngine, _ makeNode: @escaping @Sendable () throws -> Node,
        value read: @escaping @Sendable (Node.Update.Whole) throws -> Value
    ) where Difference == ValueDifference<Value> {
        let values = NodeValues(engine, makeNode, from: Node.Update.Whole()) { update, whole in
            guard update.fits(whole) else { return Value?.none }
            update.apply(to: &whole)
            return try read(whole)
        }
        readSnapshots = values.snapshots
        readOptimistic = values.optimistic
        readDifferences = { _, onError in
            LiveSequence<Difference> {
                let start = (whole: Node.Update.Whole(), value: Value?.none)
                let reader = LiveReader(engine, makeNode, from: start, onError: onError) { update, known in
                    guard update.fits(known.whole) else { return Difference?.none }
                    update.apply(to: &known.whole)
                    let (old, new) = (known.value, try read(known.whole))
                    known.value = new
                    return ValueDifference(position: update.position, old: old, new: new)
                }
                return { () async throws(StorageError) -> Difference? in try await reader.next() }
            }
        }
        explainNode = { try await engine.explain(nodeOf: makeNode) }
    }
}

extension SubscriptionEngine {
    /// Explains a node that is made for that.
    fileprivate func explain<Node: LiveNode>(
        nodeOf makeNode: @Sendable () throws -> Node
    ) async throws -> SubscriptionExplanation? {
        let handle = try await addReadingBeside(makeNode, PendingUpdate<Node.Update>())
        return try explain(handle)
    }
}
