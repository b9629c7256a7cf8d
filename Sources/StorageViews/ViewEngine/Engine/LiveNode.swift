package import StorageCore
package import StorageRouting

/// What a ``SubscriptionEngine`` keeps up to date: a list, a count, groups, sums.
///
/// Isolation: not `Sendable`; it lives in its engine and is touched by nobody else.
package protocol LiveNode: AnyObject, SendableMetatype {
    /// What is new of it.
    associatedtype Update: ComposableUpdate

    /// Where its news goes; the engine sets it before anything else.
    var sink: UpdateSink<Update>? { get set }
    /// Which changes matter to it.
    var interest: Interest { get }
    /// Learns how the entity's rows are laid out: before anything else, and again when the schema has changed.
    func bind(to layout: RowLayout) throws
    /// Reads everything anew.
    func reload(_ snapshot: Snapshot) throws
    /// Takes in one change.
    ///
    /// - Throws: ``StaleNode`` where it can't; it is hydrated then.
    func apply(_ change: ChangedRow, _ effect: RoutedChange.Effect, _ snapshot: Snapshot) throws
    /// Fetches what the changes of a step have left open.
    func finishStep(_ snapshot: Snapshot) throws
    /// Hands over what is new since the last call.
    func publish(at position: Int64) -> Delivery?
    /// Tells that it couldn't be kept up to date.
    func fail(_ error: StorageError) -> Delivery?
    /// After how many seconds it wants to be settled again, because it has put something off.
    var postponedSeconds: Double? { get }
}

extension LiveNode {
    package var postponedSeconds: Double? { nil }

    /// Tells that nothing will come any more.
    func finish() { sink?.finish() }
}

/// Says that a node has to read everything anew.
struct StaleNode: Error {}
