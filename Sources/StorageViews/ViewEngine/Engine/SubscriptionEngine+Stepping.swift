internal import StorageCore
internal import StorageLog
internal import StorageRouting

// A step: one state of the store, to which all affected nodes are brought.

extension SubscriptionEngine {
    /// One state of the store: first everything up to it is applied, then `body` runs on it.
    ///
    /// - Parameter interests: Those of a node that registers in `body`.
    func step(
        reading interests: [Interest] = [], isUrgent: Bool = false, _ body: (Snapshot) throws -> [Delivery?]
    ) throws {
        let start = ContinuousClock.now
        defer {
            // Not while a state is being read: consumers may take long. Updates made before a failure are delivered
            // too.
            let brought = pendingDeliveries
            pendingDeliveries = []
            deliveryQueue.post(brought.compactMap(\.self))
            work.duration += ContinuousClock.now - start
        }
        // Checked before: a replay that goes live during the read must not open the filter.
        let emitsEvents = source.emitsEvents
        // Before the state is looked at.
        if !interests.isEmpty || !emitsEvents { commitFilter.close() }
        inbox?.rearm()
        work.steps += 1
        let interests =
            source.needsInterests
            ? try slots.values.flatMap { try self.interests(of: $0.node) } + interests : []
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
        if emitsEvents, unregistered.isEmpty { commitFilter.open(at: position) }
    }

    private func advance(to snapshot: Snapshot, _ state: FeedState) throws -> [Delivery?] {
        var stale = try noticeSchema(snapshot, state)
        let before = position
        guard before >= 0, snapshot.position > before else {
            // A replay may move backwards.
            let isBack = before > snapshot.position
            position = snapshot.position
            return reload(isBack ? Set(slots.keys) : stale, snapshot)
        }
        guard stale.count < slots.count else {
            // No node is left to apply changes.
            _ = inbox?.take(before + 1...snapshot.position)
            position = snapshot.position
            return reload(stale, snapshot)
        }
        var batches: [EventBatch] = []
        let positions = before + 1...snapshot.position
        let parts = source.emitsEvents ? inbox?.take(positions) : nil
        let concerned = try fold(
            parts ?? [.unread(positions)], of: LogReader(state.log), in: snapshot, keeping: &batches)
        // Only now: if folding fails, the next step reads these commits from the log.
        position = snapshot.position
        // The changes point into the batches.
        return withExtendedLifetime(batches) {
            if let concerned { return reload(stale.union(concerned), snapshot) }
            let routed = commitFilter.withRouter { router in
                defer { work.router = router.counters }
                return router.route(changes, rows: snapshot.current)
            }
            let touched = apply(routed, in: snapshot, stale: &stale)
            var deliveries = reload(stale, snapshot)
            for id in touched where !stale.contains(id) { deliveries.append(finishStep(id, snapshot)) }
            return deliveries
        }
    }

    /// - Returns: The nodes that applied changes, each once.
    private func apply(_ routed: [RoutedChange], in snapshot: Snapshot, stale: inout Set<Int>) -> [Int] {
        var touched: [Int] = []
        var isTouched: Set<Int> = []
        for change in routed {
            guard let owner = owners[change.token] else { continue }
            let id = owner.id
            guard !stale.contains(id), let node = slots[id]?.node else { continue }
            if isTouched.insert(id).inserted {
                touched.append(id)
                guard !hasFailed(id) else {
                    stale.insert(id)
                    continue
                }
            }
            do {
                try apply(change, to: node, by: owner.interest, in: snapshot)
            } catch {
                // Whatever the error: reloading either resolves it or reports it.
                stale.insert(id)
            }
        }
        work.wakeups += touched.count
        return touched
    }

    /// Passes a change to a node by the interest that it was found by.
    ///
    /// - Throws: ``StaleNode`` if the node has to be reloaded.
    func apply(_ change: RoutedChange, to node: any LiveNode, by interest: Int?, in snapshot: Snapshot) throws {
        guard let interest else { throw StaleNode() }
        let row = ChangedRow(
            changes: changes, index: change.change, rows: snapshot.current, effect: change.effect, interest: interest)
        try node.take(row, in: snapshot)
    }

    func finishStep(_ id: Int, _ snapshot: Snapshot) -> Delivery? {
        guard let node = slots[id]?.node else { return nil }
        do {
            guard !hasFailed(id) else { throw StaleNode() }
            try node.settle(snapshot)
            // What was put off earlier stays due when it was.
            if let seconds = node.postponedSeconds {
                if timers[id] == nil { comeBack(to: id, after: seconds) }
            } else {
                cancelTimer(of: id)
            }
            return conclude(id, snapshot)
        } catch {
            return reload(id, snapshot)
        }
    }

    private func reload(_ ids: Set<Int>, _ snapshot: Snapshot) -> [Delivery?] {
        ids.sorted().map { reload($0, snapshot) }
    }

    func reload(_ id: Int, _ snapshot: Snapshot) -> Delivery? {
        guard let node = slots[id]?.node else { return nil }
        work.reloads += 1
        do {
            try node.readAgain(snapshot)
            slots[id]?.retries = RetryDelay()
            cancelTimer(of: id)
            return conclude(id, snapshot)
        } catch {
            return failed(id, error)
        }
    }
}
