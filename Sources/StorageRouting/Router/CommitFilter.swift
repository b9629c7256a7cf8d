internal import CSQLite
internal import Foundation
internal import StorageCore
package import StorageLog
internal import Synchronization

/// Decides on the writer's queue which transactions concern no subscription, so that nobody is woken for them.
///
/// It says that a transaction concerns nobody only where that is certain; a value that isn't known, a condition on words, a
/// large transaction, the router being in use, all mean that it may concern somebody. No commit is lost by that, because:
///
/// - Conditions depend on rows alone. So it doesn't matter how far nodes are behind when a transaction is checked against
///   them, only that all nodes are registered, for the columns as they are in that transaction.
/// - A node that holds rows with included ones is registered for those of the rows that it holds, by their values, which are
///   changed in the step that brings others. What was held back since that step's state was chosen was compared with the values
///   from before; the engine asks ``hasSkipped(since:)`` once the new ones are there, and has it read from the log then.
/// - A node registers after it has chosen the state that it begins with, and a transaction may come in between. So the filter
///   is closed from before a state is looked at in which a node registers until the step is over. What is committed
///   meanwhile is kept. A transaction that was checked against the other nodes before the filter was closed was durable by then, and
///   is part of the state that the new node reads.
/// - A transaction that touches the catalog closes it, on the writer's queue, before a transaction with other columns can
///   come. It stays closed until a step has ended well on a state that holds the transaction. For changes of the schema that
///   aren't in the catalog, such as those of full-text indexes, the engine closes it before it takes subscriptions away to
///   register them again; their conditions on columns are the same before and after.
/// - It opens only where every transaction since the state of the step was noted in here, and closes at a gap: while a past
///   is shown, or before anybody followed, schemas may have changed that nobody has seen here.
/// - A step that fails closes it, and so does a node that couldn't be registered. A node that couldn't be read keeps its
///   place in the router, and reads everything when it tries again.
/// - Rows of changes that wait to be applied must stay as those changes left them, or else they couldn't be read. So the
///   inbox keeps everything while something waits, as it would without a filter.
///
/// Sound as `@unchecked Sendable`: the router and the changes are touched only while ``lock`` is held, by the engine through
/// ``withRouter(_:)`` and by the writer, which never waits for it. It isn't held across suspensions or while nodes are at
/// work; routing reads rows while it is held.
package final class CommitFilter: @unchecked Sendable {
    private struct State {
        var isOpen = false
        /// The transactions that were noted without a gap.
        var seen: ClosedRange<Int64>?
        /// The end of the last transaction that touched the catalog.
        var catalogChange: Int64 = 0
        var skipped = 0
        /// The end of the last transaction that concerned nobody.
        var lastSkipped: Int64 = 0
    }

    private let state = Mutex(State())
    private let lock = NSLock()
    private let router = Router()
    private let changes = ChangeFold()

    package init() {}

    /// More events aren't looked at: taking them in one by one costs the writer more than waking somebody.
    private static let eventLimit = 64

    /// How many transactions concerned nobody, for certain.
    package var skipped: Int { state.withLock { $0.skipped } }

    /// Whether a transaction behind `position` was held back.
    package func hasSkipped(since position: Int64) -> Bool { state.withLock { $0.lastSkipped > position } }

    /// Runs `body` while the writer lets everything through.
    package func withRouter<Result>(_ body: (Router) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(router)
    }
}

// MARK: Opening and closing

extension CommitFilter {
    /// Lets everything through from here on.
    package func close() { state.withLock { $0.isOpen = false } }

    /// Begins to hold transactions back, where all that came after `position` is known.
    ///
    /// - Parameter position: That of a state to which the router and all nodes have been brought.
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
    /// Whether a transaction may concern somebody; to be called on the writer's queue once it was noted.
    ///
    /// - Parameter wanted: The entities whose events are looked at.
    package func mayConcern(_ events: CommittedEvents, wanted: Set<UInt32>) -> Bool {
        guard lock.try() else { return true }
        defer { lock.unlock() }
        // Looked at while the lock is held: the engine closes it before it takes subscriptions away, which waits for the lock.
        guard state.withLock({ $0.isOpen }), isKnown(events, wanted) else { return true }
        router.fill(changes) {
            $0.add(events.view, 0..<events.view.count, first: events.first, attached: events.attached)
        }
        if router.mayConcern(changes) { return true }
        state.withLock { ($0.skipped, $0.lastSkipped) = ($0.skipped + 1, events.last) }
        return false
    }

    /// Whether all events that are wanted are of entities that somebody has subscribed to, and few.
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
