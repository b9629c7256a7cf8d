internal import CSQLite
internal import Foundation
internal import StorageCore
package import StorageLog
internal import Synchronization

/// Decides on the writer's queue which transactions affect no subscription, so that they cause no step.
///
/// It skips a transaction only if it certainly affects no subscription. An unknown value, a condition on words, a large
/// transaction, or the router being in use all mean that it may affect one. No commit is lost by that, because:
///
/// - Conditions depend on rows alone. So it doesn't matter how far nodes are behind when a transaction is checked against
///   them, only that all nodes are registered, for the columns as they are in that transaction.
/// - A node with included rows is registered for them by the values of the rows that it holds, which are updated in the step
///   that changes those rows. Transactions skipped since that step's state was chosen were checked against the old values;
///   once the new ones are set, the engine calls ``hasSkipped(since:)``, and reads skipped transactions from the log.
/// - A node registers after it has chosen its first state, and a transaction may be committed in between. So the filter is
///   closed before a state is read in which a node registers, until the step is over. Transactions committed meanwhile are
///   kept. A transaction that was checked against the other nodes before the filter was closed was durable by then, and is
///   part of the state that the new node reads.
/// - A transaction that changes the catalog closes the filter, on the writer's queue, before a transaction with other columns
///   can be committed. It stays closed until a step has succeeded on a state that includes the transaction. For changes of
///   the schema that aren't in the catalog, such as those of full-text indexes, the engine closes it before it removes
///   subscriptions to register them again; their conditions on columns are the same before and after.
/// - It opens only if every transaction since the state of the step was noted here, and closes at a gap: during a replay, or
///   before the store was followed, schemas may have changed unnoticed.
/// - A step that fails closes it, and so does a node that couldn't be registered. A node that couldn't be read stays
///   registered, and reads everything when it retries.
/// - The current versions of rows whose changes are pending must be as those changes left them, or they couldn't be read. So
///   the inbox keeps everything while something is pending, as it would without a filter.
///
/// Sound as `@unchecked Sendable`: the router and the changes are accessed only while ``lock`` is held, by the engine through
/// ``withRouter(_:)`` and by the writer, which never waits for it. It isn't held across suspensions or while nodes are
/// working; routing reads rows while it is held.
package final class CommitFilter: @unchecked Sendable {
    private struct State {
        var isOpen = false
        /// The transactions that were noted without a gap.
        var seen: ClosedRange<Int64>?
        /// The end of the last transaction that touched the catalog.
        var catalogChange: Int64 = 0
        var skipped = 0
        /// The end of the last transaction that was skipped.
        var lastSkipped: Int64 = 0
    }

    private let state = Mutex(State())
    private let lock = NSLock()
    private let router = Router()
    private let changes = ChangeFold()

    package init() {}

    /// Larger transactions aren't checked: routing their events costs the writer more than waking the engine.
    private static let eventLimit = 64

    /// The number of skipped transactions.
    package var skipped: Int { state.withLock { $0.skipped } }

    /// Whether a transaction behind `position` was held back.
    package func hasSkipped(since position: Int64) -> Bool { state.withLock { $0.lastSkipped > position } }

    /// Runs `body` with the router; meanwhile the writer skips no transaction.
    package func withRouter<Result>(_ body: (Router) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(router)
    }
}

// MARK: Opening and closing

extension CommitFilter {
    /// Stops skipping transactions.
    package func close() { state.withLock { $0.isOpen = false } }

    /// Starts skipping transactions, if all of them after `position` were noted.
    ///
    /// - Parameter position: The position of a state that the router and all nodes reflect.
    package func open(at position: Int64) {
        state.withLock { state in
            let isWithoutGap = state.seen.map { $0.lowerBound <= position + 1 } ?? true
            guard isWithoutGap, state.catalogChange <= position else { return }
            state.seen = min(position, state.seen?.lowerBound ?? position)...max(position, state.seen?.upperBound ?? 0)
            state.isOpen = true
        }
    }

    /// Takes note of a transaction, on the writer's queue; to be called for each.
    package func note(_ events: CommittedEvents) {
        let isOfCatalog = events.concerns { $0 == CatalogEntity.catalog.id }
        state.withLock { state in
            if let seen = state.seen, events.first <= seen.upperBound + 1 {
                state.seen = seen.lowerBound...max(seen.upperBound, events.last)
            } else {
                state.seen = events.first...events.last
                state.isOpen = false
            }
            guard isOfCatalog else { return }
            state.catalogChange = events.last
            state.isOpen = false
        }
    }
}

// MARK: Holding back

extension CommitFilter {
    /// Whether a transaction may affect a subscription; call it on the writer's queue after noting the transaction.
    ///
    /// - Parameter wanted: The entities whose events are routed.
    package func mayConcern(_ events: CommittedEvents, wanted: Set<UInt32>) -> Bool {
        guard lock.try() else { return true }
        defer { lock.unlock() }
        // Checked while the lock is held: the engine closes the filter before it removes subscriptions, for which it waits
        // for the lock.
        guard state.withLock({ $0.isOpen }), isKnown(events, wanted) else { return true }
        router.fill(changes) {
            $0.add(events.view, 0..<events.view.count, first: events.first, attached: events.attached)
        }
        if router.mayConcern(changes) { return true }
        state.withLock { ($0.skipped, $0.lastSkipped) = ($0.skipped + 1, events.last) }
        return false
    }

    /// Whether all wanted events are few, and of entities with subscriptions.
    private func isKnown(_ events: CommittedEvents, _ wanted: Set<UInt32>) -> Bool {
        guard events.view.count <= Self.eventLimit else { return false }
        var known: UInt32?
        for index in 0..<events.view.count {
            let entity = events.view.shape(of: index).entity
            guard entity != known, wanted.contains(entity) else { continue }
            guard router.hasSubscriptions(to: entity) else { return false }
            known = entity
        }
        return true
    }
}
