package import StorageCore
package import StorageRouting

/// What a ``SubscriptionEngine`` keeps up to date: a list, a count, groups, sums.
///
/// Isolation: not `Sendable`; only its engine accesses it.
package protocol LiveNode: AnyObject, SendableMetatype {
    /// The type of its updates.
    associatedtype Update: ComposableUpdate

    /// Updates that the consumer hasn't received yet. Set by the engine before any other call.
    var pendingUpdate: PendingUpdate<Update>? { get set }
    /// Which changes matter to it: those of its entity, then those of rows that it shows with its own.
    var ownInterests: [Interest] { get }
    /// Returns the values that were added and removed since the last call, for each of ``ownInterests`` with an
    /// ``Interest/valueColumn``. Nodes that include related rows have such interests.
    ///
    /// - Parameter all: Whether to return all current values, whatever earlier calls have returned.
    func takeOwnValues(all: Bool) -> [HeldValues]
    /// The conditions on related rows that decide which rows of its entity it contains; nil if there are none. It
    /// applies the changes that result from them.
    var membership: RelatedMembership? { get }
    /// Whether every node that is at the same rows shows the same, whatever it has shown before.
    var isDeterminedByRows: Bool { get }
    /// Learns how the rows of its interests are laid out: before anything else, and again when the schema has changed.
    func bind(to layouts: [RowLayout]) throws
    /// Reads everything.
    func reload(_ snapshot: Snapshot) throws
    /// Applies one change.
    ///
    /// - Throws: ``StaleNode`` if it can't; the node is reloaded then.
    func apply(_ change: ChangedRow, in snapshot: Snapshot) throws
    /// Reads what is still missing after the changes of a step.
    func finishStep(_ snapshot: Snapshot) throws
    /// The seconds after which to finish the step again, if the node has postponed work.
    var postponedSeconds: Double? { get }

    /// Returns the changes since the last call; nil if there are none.
    ///
    /// - Throws: If the new value can't be shown. It counts as a failure.
    func takeUpdate(at position: Int64) throws -> Update?
    /// Everything; nil if updates limit their own size.
    func wholeUpdate() -> Update?
    /// Above so many steps that wait for the consumer it gets everything instead.
    var updateLimit: Int { get }
    /// An update that reports a failure; nil if the consumer isn't notified of failures. Drops unpublished changes.
    func takeFailure(_ error: StorageError) -> Update?
}

extension LiveNode {
    package func takeOwnValues(all: Bool) -> [HeldValues] { [] }
    package var membership: RelatedMembership? { nil }
    package var isDeterminedByRows: Bool { true }
    package var postponedSeconds: Double? { nil }
}

// MARK: Publishing

extension LiveNode {
    /// What is new since the last call, for its consumer.
    func publish(at position: Int64) -> Delivery? {
        do {
            guard let update = try takeUpdate(at: position) else { return nil }
            return delivery(of: update, limit: updateLimit)
        } catch {
            return fail(error.forSubscribers)
        }
    }

    /// Reports that it couldn't be kept up to date. A whole update would hide the error, so it never replaces this one.
    func fail(_ error: StorageError) -> Delivery? {
        takeFailure(error).flatMap { delivery(of: $0, limit: .max) }
    }

    /// Ends the updates.
    func end() -> Delivery? {
        pendingUpdate.map { pending in Delivery(pendingUpdate: pending) { pending.end() } }
    }

    func delivery(of update: Update, limit: Int) -> Delivery? {
        pendingUpdate.map { pending in
            Delivery(pendingUpdate: pending) { pending.put(update, limit: limit) { self.wholeUpdate() } }
        }
    }
}

/// Thrown if a node has to be reloaded.
struct StaleNode: Error {}
