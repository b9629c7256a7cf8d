package import StorageCore
package import StorageRouting

/// What a ``SubscriptionEngine`` keeps up to date: a list, a count, groups, sums.
///
/// Isolation: not `Sendable`; it lives in its engine and is touched by nobody else.
package protocol LiveNode: AnyObject, SendableMetatype {
    /// What is new of it.
    associatedtype Update: ComposableUpdate

    /// What its consumer hasn't taken yet; the engine sets it before anything else.
    var pendingUpdate: PendingUpdate<Update>? { get set }
    /// Which changes matter to it: those of its entity, then those of rows that it shows with its own.
    var ownInterests: [Interest] { get }
    /// The values that it has come to hold and holds no longer, since they were taken last, of those of ``ownInterests`` that have a
    /// ``Interest/valueColumn``: there are nodes that look at rows related to those that they hold.
    ///
    /// - Parameter all: Whether all that it holds are wanted, whatever was taken before.
    func takeOwnValues(all: Bool) -> [HeldValues]
    /// Which rows of its entity conditions on related rows let in; nil where there are none. It applies the changes that
    /// come of them.
    var membership: RelatedMembership? { get }
    /// Learns how the rows of its interests are laid out: before anything else, and again when the schema has changed.
    func bind(to layouts: [RowLayout]) throws
    /// Reads everything.
    func reload(_ snapshot: Snapshot) throws
    /// Takes in one change.
    ///
    /// - Throws: ``StaleNode`` where it can't; it is reloaded then.
    func apply(_ change: ChangedRow, in snapshot: Snapshot) throws
    /// Fetches what the changes of a step have left open.
    func finishStep(_ snapshot: Snapshot) throws
    /// After how many seconds it wants to finish its step again, because it has put something off.
    var postponedSeconds: Double? { get }

    /// What is new since the last call; nil where nothing is.
    ///
    /// - Throws: Why that can't be said, as a value is none that can be shown. It counts as a failure.
    func takeUpdate(at position: Int64) throws -> Update?
    /// Everything that there is; nil where updates bound themselves.
    func wholeUpdate() -> Update?
    /// Above so many steps that wait for the consumer it gets everything instead.
    var updateLimit: Int { get }
    /// What says that it couldn't be kept up to date; nil where its consumer doesn't hear of that. What was new is
    /// forgotten.
    func takeFailure(_ error: StorageError) -> Update?
}

extension LiveNode {
    package func takeOwnValues(all: Bool) -> [HeldValues] { [] }
    package var membership: RelatedMembership? { nil }
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

    /// Says that it couldn't be kept up to date. Everything that there is would hide that, so it never replaces it.
    func fail(_ error: StorageError) -> Delivery? {
        takeFailure(error).flatMap { delivery(of: $0, limit: .max) }
    }

    /// Says that nothing will come any more.
    func end() -> Delivery? {
        pendingUpdate.map { pending in Delivery(pendingUpdate: pending) { pending.end() } }
    }

    func delivery(of update: Update, limit: Int) -> Delivery? {
        pendingUpdate.map { pending in
            Delivery(pendingUpdate: pending) { pending.put(update, limit: limit) { self.wholeUpdate() } }
        }
    }
}

/// Says that a node has to be reloaded.
struct StaleNode: Error {}
