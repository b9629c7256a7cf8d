internal import CSQLite
internal import Dispatch
package import GRDB
internal import StorageCore
internal import StorageLog
package import StorageRouting

/// Follows a store's log and keeps nodes up to date: each commit costs the nodes that it concerns.
///
/// It works in steps. A step looks at one state of the store, takes in everything up to that state's position, brings
/// every node that is concerned to that position, and hands what is new to the views, all at once. A node begins its
/// life inside of a step, so nothing can come between what it has read and what it is told.
///
/// Isolation: an actor on a queue of its own, because it waits for the database. ``now(_:)`` waits for it without
/// `await`; don't call it from the writer.
package actor SubscriptionEngine {
    private nonisolated let executor = QueueExecutor(label: "StorageKit subscriptions")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    package nonisolated let deliveryQueue = DeliveryQueue()
    private nonisolated let source: any FeedSource
    private var inbox: CommitInbox?

    struct Slot {
        let node: any LiveNode
        let entity: UInt32
        let token: SubscriptionToken
        var retries = RetryDelay()
    }

    /// Holds the router, and transactions back that concern nobody.
    private nonisolated let commitFilter = CommitFilter()
    let changes = FoldedChanges()
    private var slots: [Int: Slot] = [:]
    private var owners: [SubscriptionToken: Int] = [:]
    private var nextId = 0
    private var schema = KnownSchema()
    private var isClosed = false
    /// Whether what was committed couldn't be taken in.
    private var isBehind = false
    /// What the step under way has brought, for the views.
    private var pendingDeliveries: [Delivery?] = []
    /// Nodes that have put something off.
    private var postponed: Set<Int> = []
    /// What nodes reflect.
    package private(set) var position: Int64 = 0
    private var work = EngineCounters()
    /// The columns that the source was asked for.
    private var requestedColumns: Set<UInt32> = []
    /// Above so many events, nodes that are concerned read everything anew instead of taking them in one by one.
    private static let eventLimit = 20_000
    /// Above so many events, finding out who is concerned costs more than reading anew: whose entity has events counts as
    /// concerned then.
    private static let routingLimit = 1_000_000

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

    /// Runs `body` on the engine, soon or after some seconds.
    nonisolated func perform(
        after seconds: Double = 0, _ body: @escaping @Sendable (isolated SubscriptionEngine) -> Void
    ) {
        executor.queue.asyncAfter(deadline: .now() + seconds) { self.assumeIsolated { body($0) } }
    }

    nonisolated func removeLater(_ id: Int) {
        perform { $0.remove(id) }
    }

    /// Runs `body` while nobody looks at the source.
    package func runExclusively(_ body: @Sendable () throws -> Void) throws { try body() }

    /// Reads the source's state.
    package func read<Result: Sendable>(
        _ interest: Interest, _ body: @Sendable (GRDB.Database) throws -> Result
    ) throws -> Result { try source.read([interest]) { try body($0.rows) } }

    /// Calls `body` when the store is closed, at once where it is already, until the observation is let go of.
    nonisolated func onClose(_ body: @escaping @Sendable () -> Void) -> CommitObservation { source.onClose(body) }

    package var nodeCount: Int { slots.count }

    package var counters: EngineCounters {
        var counters = work
        counters.skipped = commitFilter.skipped
        return counters
    }
}

// MARK: Nodes

extension SubscriptionEngine {
    /// Takes in a node, and reads what it begins with.
    ///
    /// - Throws: What its first read throws; it isn't kept then.
    package func add<Node: LiveNode>(_ node: Node, _ pendingUpdate: PendingUpdate<Node.Update>) throws -> LiveHandle {
        guard !isClosed else { throw StorageError.closed() }
        node.pendingUpdate = pendingUpdate
        if slots.isEmpty { follow() }
        let id = nextId
        nextId += 1
        do {
            let entity = try entity(named: node.interest.entity)
            updateInterest(entity.id)
            try step(reading: node.interest) { snapshot in
                // The schema may have changed since it was looked at.
                let entity = try self.entity(named: node.interest.entity)
                let layout = try self.layout(entity, snapshot)
                try node.bind(to: layout)
                let token = try register(node, entity.id, layout)
                do {
                    try node.reload(snapshot)
                } catch {
                    commitFilter.withRouter { $0.remove(token) }
                    throw error
                }
                slots[id] = Slot(node: node, entity: entity.id, token: token)
                owners[token] = id
                return [node.publish(at: snapshot.position)]
            }
            requestColumns()
        } catch {
            // The state may fail to end after the node was read on it.
            remove(id)
            updateInterest()
            if slots.isEmpty { suspend() }
            throw error
        }
        return LiveHandle(id: id, engine: self)
    }

    private func register(_ node: any LiveNode, _ entity: UInt32, _ layout: RowLayout) throws -> SubscriptionToken {
        let interest = node.interest
        let affecting = try interest.columns.map { try layout.mask(of: $0) } ?? .all
        return try commitFilter.withRouter { router in
            try router.register(
                entity, where: interest.predicate, matching: interest.expression, affecting: affecting)
        }
    }

    /// Does nothing for a node that is gone.
    func remove(_ id: Int) {
        guard let slot = slots.removeValue(forKey: id) else { return }
        owners[slot.token] = nil
        commitFilter.withRouter { $0.remove(slot.token) }
        postponed.remove(id)
        updateInterest()
        requestColumns()
        if slots.isEmpty { suspend() }
    }

    /// Asks a node for something that it does on the store's state, and publishes what comes of it.
    package func change<Node: LiveNode>(
        _ handle: LiveHandle, as type: Node.Type, _ body: @Sendable (Node, Snapshot) throws -> Void
    ) throws {
        guard let slot = slots[handle.id], let node = slot.node as? Node else { throw StorageError.closed() }
        try step { snapshot in
            try body(node, snapshot)
            try node.finishStep(snapshot)
            return [node.publish(at: snapshot.position)]
        }
    }

    /// Reads everything anew for one node, whatever has or hasn't happened.
    package func refresh(_ handle: LiveHandle) throws {
        guard slots[handle.id] != nil else { throw StorageError.closed() }
        try step { [reload(handle.id, $0)] }
    }

    package func explain(_ handle: LiveHandle) -> SubscriptionExplanation? {
        slots[handle.id].flatMap { slot in commitFilter.withRouter { $0.explain(slot.token) } }
    }
}

// MARK: Following

extension SubscriptionEngine {
    private func follow() {
        let inbox = CommitInbox(commitFilter) { [weak self] in
            guard let self else { return }
            perform { $0.catchUp() }
        }
        self.inbox = inbox
        source.start(inbox) { [weak self] in
            guard let self else { return }
            perform { $0.close() }
        }
        // What came before nobody was interested in.
        position = -1
    }

    /// Nobody is interested any more: commits cost nothing from here on.
    private func suspend() {
        commitFilter.close()
        source.stop()
        inbox = nil
        position = 0
    }

    private func close() {
        isClosed = true
        deliveryQueue.post(slots.values.compactMap { $0.node.end() })
        slots.removeAll()
        owners.removeAll()
        postponed.removeAll()
        suspend()
    }

    /// Wants the events of entities that nodes look at, and of another one.
    private func updateInterest(_ entity: UInt32 = CatalogEntity.catalog.id) {
        let entities = commitFilter.withRouter { $0.entities }
        inbox?.setInterest(entities.union([entity, CatalogEntity.catalog.id]))
    }

    /// Asks for the columns that conditions look at, so that the sieve knows them.
    private func requestColumns() {
        let columns = commitFilter.withRouter { $0.columnsOfConditions }
        guard columns != requestedColumns else { return }
        requestedColumns = columns
        source.requestColumns(Array(columns))
    }

    /// Takes in what has been committed, and hands it to the views.
    ///
    /// - Parameter isUrgent: Whether nodes do at once what they would put off.
    package func catchUp(isUrgent: Bool = false) {
        guard !slots.isEmpty, mayBeBehind || isUrgent && !postponed.isEmpty else { return }
        do {
            try step(isUrgent: isUrgent) { snapshot in
                isUrgent ? postponed.sorted().map { finishStep($0, snapshot) } : []
            }
        } catch {
            fail(Array(slots.keys), error)
        }
    }

    /// Whether the store may be ahead of what was taken in. Commits of this process are told before they return.
    private var mayBeBehind: Bool { !source.emitsEvents || isBehind || inbox?.hasPending ?? true }

    /// One state of the store: first everything up to it is taken in, then `body` runs on it.
    ///
    /// - Parameter interest: That of a node that registers in `body`.
    private func step(
        reading interest: Interest? = nil, isUrgent: Bool = false, _ body: (Snapshot) throws -> [Delivery?]
    ) throws {
        let start = ContinuousClock.now
        defer {
            // Not while a state is held: what a consumer does may take long. What was brought up to date before something
            // failed is delivered too.
            deliveryQueue.post(pendingDeliveries.compactMap(\.self))
            pendingDeliveries.removeAll(keepingCapacity: true)
            work.duration += ContinuousClock.now - start
        }
        // A past that is let go while it is read must not open it.
        let emitsEvents = source.emitsEvents
        // Before the state is looked at.
        if interest != nil || !emitsEvents { commitFilter.close() }
        inbox?.rearm()
        work.steps += 1
        let interests = source.needsInterests ? slots.values.map(\.node.interest) + [interest].compactMap { $0 } : []
        do {
            try source.read(interests) { state in
                let snapshot = Snapshot(state, isUrgent: isUrgent)
                defer {
                    work.statements += snapshot.statementCount
                    work.rowReads += snapshot.current.reads
                }
                pendingDeliveries += try advance(to: snapshot, state)
                pendingDeliveries += try body(snapshot)
            }
        } catch {
            commitFilter.close()
            isBehind = true
            throw error
        }
        isBehind = false
        if emitsEvents, owners.count == slots.count { commitFilter.open(at: position) }
    }

    private func advance(to snapshot: Snapshot, _ state: FeedState) throws -> [Delivery?] {
        var stale = try noticeSchema(snapshot, state)
        let before = position
        guard before >= 0, snapshot.position > before else {
            // A past that is replayed may go back.
            let isBack = before > snapshot.position
            position = snapshot.position
            return reload(isBack ? Set(slots.keys) : stale, snapshot)
        }
        guard stale.count < slots.count else {
            // Nobody is left who would take in changes.
            _ = inbox?.take(before + 1...snapshot.position)
            position = snapshot.position
            return reload(stale, snapshot)
        }
        var batches: [EventBatch] = []
        let concerned = try fill(before + 1...snapshot.position, snapshot, LogReader(state.log), &batches)
        // What couldn't be had is read from the log the next time.
        position = snapshot.position
        // The changes point into the batches.
        return withExtendedLifetime(batches) {
            if let concerned { return reload(stale.union(concerned), snapshot) }
            let routed = commitFilter.withRouter { router in
                defer { work.router = router.counters }
                return router.route(changes, rows: snapshot.current)
            }
            let touched = apply(routed, snapshot, &stale)
            var deliveries = reload(stale, snapshot)
            for id in touched where !stale.contains(id) { deliveries.append(finishStep(id, snapshot)) }
            return deliveries
        }
    }

    /// Folds the events that are wanted into changes.
    ///
    /// - Returns: Where there are more than are worth being taken in one by one, the nodes that they concern; nil otherwise.
    private func fill(
        _ positions: ClosedRange<Int64>, _ snapshot: Snapshot, _ log: LogReader, _ batches: inout [EventBatch]
    ) throws -> Set<Int>? {
        var concerned = Concerned()
        var count = 0
        var folded = 0
        let wanted = commitFilter.withRouter { router in
            router.empty(changes)
            return router.entities
        }
        // What is read from the log needn't be where all that it could concern is known to be concerned.
        func isNeeded(_ header: SegmentHeader) -> Bool {
            let entities = wanted.filter { header.entities.contains($0) && !concerned.entities.contains($0) }
            guard count > Self.routingLimit else { return !entities.isEmpty }
            concerned.entities.formUnion(entities)
            return false
        }
        try forEachRun(in: positions, log, where: isNeeded) { batch, events in
            let first = batch.header.first
            if folded + events.count > Self.eventLimit {
                note(&concerned, snapshot)
                batches.removeAll()
                folded = 0
            }
            count += events.count
            folded += events.count
            batches.append(batch)
            batch.withView { changes.add($0, events, first: first) }
        }
        guard count > Self.eventLimit else {
            changes.finish()
            return nil
        }
        note(&concerned, snapshot)
        return Set(slots.filter { concerned.contains($1.token) }.map(\.key))
    }

    /// Notes whom the changes that were folded concern, and makes room for others.
    private func note(_ concerned: inout Concerned, _ snapshot: Snapshot) {
        changes.finish()
        commitFilter.withRouter { router in
            router.note(changes, rows: snapshot.current, &concerned)
            work.router = router.counters
            router.empty(changes)
        }
    }

    /// Calls `body` with events that are wanted, in order, a limited number at a time; there may be others among them.
    private func forEachRun(
        in positions: ClosedRange<Int64>, _ log: LogReader, where isNeeded: (SegmentHeader) -> Bool,
        _ body: (EventBatch, Range<Int>) throws -> Void
    ) throws {
        let parts = source.emitsEvents ? inbox?.take(positions) ?? [.unread(positions)] : [.unread(positions)]
        for part in parts {
            switch part {
            case .batch(let batch):
                for start in stride(from: 0, to: batch.count, by: Self.eventLimit) {
                    try body(batch, start..<min(batch.count, start + Self.eventLimit))
                }
            case .unread(let positions):
                try log.forEachBatch(in: positions, where: isNeeded) { batch in
                    let first = batch.header.first
                    let events = positions.clamped(to: batch.positions)
                    try body(batch, Int(events.lowerBound - first)..<Int(events.upperBound - first) + 1)
                    return true
                }
            }
        }
    }

    /// - Returns: The nodes that were told of changes, each once.
    private func apply(_ routed: [RoutedChange], _ snapshot: Snapshot, _ stale: inout Set<Int>) -> [Int] {
        var touched: [Int] = []
        var isTouched: Set<Int> = []
        for change in routed {
            guard let id = owners[change.token], !stale.contains(id), let node = slots[id]?.node else { continue }
            if isTouched.insert(id).inserted { touched.append(id) }
            do {
                guard change.effect != .uncertain else { throw StaleNode() }
                let row = ChangedRow(changes: changes, index: change.change, rows: snapshot.current)
                try node.apply(row, change.effect, snapshot)
            } catch {
                // Whatever went wrong: reading everything anew either mends it or says what it is.
                stale.insert(id)
            }
        }
        work.wakeups += touched.count
        return touched
    }

    private func finishStep(_ id: Int, _ snapshot: Snapshot) -> Delivery? {
        guard let node = slots[id]?.node else { return nil }
        do {
            try node.finishStep(snapshot)
            if let seconds = node.postponedSeconds {
                postponed.insert(id)
                perform(after: seconds) { $0.finishStepLater(id) }
            } else {
                postponed.remove(id)
            }
            return node.publish(at: snapshot.position)
        } catch {
            return reload(id, snapshot)
        }
    }

    private func finishStepLater(_ id: Int) {
        guard slots[id] != nil else { return }
        do {
            try step { [finishStep(id, $0)] }
        } catch {
            fail([id], error)
        }
    }

    private func reload(_ ids: Set<Int>, _ snapshot: Snapshot) -> [Delivery?] {
        ids.sorted().map { reload($0, snapshot) }
    }

    private func reload(_ id: Int, _ snapshot: Snapshot) -> Delivery? {
        guard let node = slots[id]?.node else { return nil }
        work.reloads += 1
        do {
            try node.reload(snapshot)
            slots[id]?.retries = RetryDelay()
            return node.publish(at: snapshot.position)
        } catch {
            return failed(id, error)
        }
    }
}

// MARK: Failing

extension SubscriptionEngine {
    /// A node that has failed keeps what it had, says so, and tries again, waiting longer each time.
    private func failed(_ id: Int, _ error: any Error) -> Delivery? {
        guard var slot = slots[id] else { return nil }
        perform(after: slot.retries.next()) { $0.retry(id) }
        slots[id] = slot
        return slot.node.fail(StorageError.wrapping(error).forSubscribers)
    }

    private func fail(_ ids: [Int], _ error: any Error) {
        if (error as? StorageError)?.code == .closed { return close() }
        deliveryQueue.post(ids.compactMap { failed($0, error) })
    }

    private func hasFailed(_ id: Int) -> Bool { slots[id]?.retries.hasFailed ?? false }

    private func retry(_ id: Int) {
        do {
            // It may be well again, also by what this step takes in.
            guard hasFailed(id) else { return }
            try step { hasFailed(id) ? [reload(id, $0)] : [] }
        } catch {
            fail([id], error)
        }
    }
}

// MARK: The schema

extension SubscriptionEngine {
    private func entity(named name: String) throws -> CatalogEntity {
        if let entity = schema.entity(named: name) { return entity }
        // Its version stays unknown, so that the next step looks at everything.
        let catalog = try source.read([]) { try Catalog.load($0.log) }
        if let entity = catalog.entity(named: name) { return entity }
        throw StorageError.noEntity(name)
    }

    private func layout(_ entity: CatalogEntity, _ snapshot: Snapshot) throws -> RowLayout {
        if let known = commitFilter.withRouter({ $0.layout(of: entity.id) }) { return known }
        let connection = try snapshot.rows.connection
        let layout = RowLayout(entity, in: connection, fullText: schema.fullText(of: entity.id))
        commitFilter.withRouter { $0.add(layout) }
        return layout
    }

    /// Lays out the rows anew of entities that have changed.
    ///
    /// - Returns: The nodes that have to read everything anew.
    private func noticeSchema(_ snapshot: Snapshot, _ state: FeedState) throws -> Set<Int> {
        guard try !schema.isCurrent(state) else { return [] }
        // Before subscriptions are taken away.
        commitFilter.close()
        let known = schema
        schema = try KnownSchema(state)
        let stale = Set(
            slots.filter { !schema.hasSame($1.node.interest.entity, as: $1.entity, of: known) }.map(\.key))
        let changed = Set(stale.compactMap { slots[$0]?.entity })
        commitFilter.withRouter { router in
            for entity in changed { router.forget(entity) }
            router.forgetUnused()
        }
        for id in stale { rebind(id, snapshot) }
        requestColumns()
        return stale
    }

    /// Registers a node anew after its entity has changed.
    private func rebind(_ id: Int, _ snapshot: Snapshot) {
        guard let slot = slots[id] else { return }
        owners[slot.token] = nil
        // Where it can't be registered, reading it anew fails in the same way, and says so.
        guard let entity = schema.entity(named: slot.node.interest.entity),
            let layout = try? layout(entity, snapshot), (try? slot.node.bind(to: layout)) != nil,
            let token = try? register(slot.node, entity.id, layout)
        else { return }
        slots[id] = Slot(node: slot.node, entity: entity.id, token: token)
        owners[token] = id
        updateInterest(entity.id)
    }
}
