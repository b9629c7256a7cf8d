internal import Dispatch
package import GRDB
internal import StorageCore
internal import StorageLog
internal import StorageRouting

/// Follows a store's log and keeps nodes up to date: each commit costs the nodes that it affects.
///
/// It works in steps. A step reads one state of the store, applies everything up to that state's position, brings every
/// affected node to that position, and delivers the updates to the views, all at once. A node is added inside a step,
/// so no commit is missed between its first read and the changes that it applies.
///
/// Isolation: an actor on a queue of its own, because it waits for the database. ``now(_:)`` waits for it without
/// `await`; don't call it from the writer.
package actor SubscriptionEngine {
    private nonisolated let executor = QueueExecutor(label: "StorageKit subscriptions")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    package nonisolated let deliveryQueue = DeliveryQueue()
    nonisolated let source: any FeedSource
    /// Changes that optimistic readers are shown before they are stored.
    package nonisolated let optimisticChanges = OptimisticChangeRegistry()

    /// Whether it follows its source.
    enum Phase {
        /// There are no nodes: commits cost nothing.
        case idle
        /// There are nodes, and what is committed is kept for them.
        case following(CommitInbox)
        /// The store is closed: there will be no nodes any more.
        case closed
    }

    /// A node, and how changes find it.
    struct Slot {
        let node: any LiveNode
        var registrations: [Registration]
        var retries = RetryDelay()
    }

    /// How changes of an entity find a node.
    struct Registration {
        let entity: UInt32
        let token: SubscriptionToken
        /// Which of the node's interests it is; nil if a change makes the node read everything again.
        let interest: Int?
    }

    /// The owner of a token: a node, and the index among its interests; see ``Registration/interest``.
    struct Owner {
        let id: Int
        let interest: Int?
    }

    /// Holds the router, and skips transactions that affect no node.
    nonisolated let commitFilter = CommitFilter()
    let changes = ChangeFold()
    var phase = Phase.idle
    var slots: [Int: Slot] = [:]
    var owners: [SubscriptionToken: Owner] = [:]
    /// The nodes that changes don't find, as they couldn't be registered again.
    var unregistered: Set<Int> = []
    private var nextId = 0
    var schema = KnownSchema()
    /// Whether what was committed couldn't be applied.
    var isBehind = false
    /// The updates of the current step, for the consumers.
    var pendingDeliveries: [Delivery?] = []
    /// When it comes back to a node by itself, because the node has failed or has put something off.
    var timers: [Int: Task<Void, Never>] = [:]
    /// The position that nodes reflect.
    package internal(set) var position: Int64 = 0
    var work = EngineCounters()
    /// The columns that were requested from the source.
    var requestedColumns: Set<UInt32> = []

    package init(_ source: any FeedSource) { self.source = source }

    /// Runs `body`, which opens a node.
    package func open(_ body: @Sendable (isolated SubscriptionEngine) throws -> LiveHandle) throws -> LiveHandle {
        try body(self)
    }

    /// Runs `body` on the engine and waits for it.
    package nonisolated func now<Result: Sendable>(
        _ body: @Sendable (isolated SubscriptionEngine) throws -> Result
    ) rethrows -> Result {
        try executor.queue.sync { try assumeIsolated { try body($0) } }
    }

    /// Runs `body` on the engine, soon.
    nonisolated func perform(_ body: @escaping @Sendable (isolated SubscriptionEngine) -> Void) {
        executor.queue.async { self.assumeIsolated { body($0) } }
    }

    nonisolated func removeLater(_ id: Int) {
        perform { $0.remove(id) }
    }

    /// Runs `body` while no step reads the source.
    package func runExclusively<Result: Sendable>(_ body: @Sendable () throws -> Result) rethrows -> Result {
        try body()
    }

    /// Reads the source's state.
    package func read<Result: Sendable>(
        _ interest: Interest, _ body: @Sendable (GRDB.Database) throws -> Result
    ) throws -> Result { try source.read([interest]) { try body($0.rows) } }

    /// Calls `body` when the store is closed, at once if it is already, until the observation is released.
    nonisolated func onClose(_ body: @escaping @Sendable () -> Void) -> StorageObservation { source.onClose(body) }

    /// A number for a node.
    func makeId() -> Int {
        defer { nextId += 1 }
        return nextId
    }

    package var nodeCount: Int { slots.count }

    package var counters: EngineCounters {
        var counters = work
        counters.skipped = commitFilter.skipped
        return counters
    }
}
