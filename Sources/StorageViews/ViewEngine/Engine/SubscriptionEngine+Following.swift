internal import StorageLog
internal import StorageRouting

// Beginning to follow the source and leaving off, and hearing of commits.

extension SubscriptionEngine {
    func follow() {
        let inbox = CommitInbox(commitFilter) { [weak self] in
            guard let self else { return }
            perform { $0.catchUp() }
        }
        phase = .following(inbox)
        source.start(inbox) { [weak self] in
            guard let self else { return }
            perform { $0.close() }
        }
        // Earlier commits affect no node.
        position = -1
    }

    /// The inbox that receives commits, while the source is followed.
    var inbox: CommitInbox? {
        if case .following(let inbox) = phase { inbox } else { nil }
    }

    /// Stops following when there are no nodes left: commits cost nothing afterwards.
    func suspend() {
        commitFilter.close()
        source.stop()
        if case .following = phase { phase = .idle }
        position = 0
    }

    func close() {
        deliveryQueue.post(slots.values.compactMap { $0.node.end() })
        slots.removeAll()
        owners.removeAll()
        unregistered.removeAll()
        for timer in timers.values { timer.cancel() }
        timers.removeAll()
        suspend()
        phase = .closed
    }

    /// Wants the events of entities that nodes look at, and of others.
    func updateInterest(_ others: [UInt32] = []) {
        let entities = commitFilter.withRouter { $0.entities }
        inbox?.setInterest(entities.union(others).union([CatalogEntity.catalog.id]))
    }

    /// Asks for the columns that conditions look at, so that the filter knows them.
    func requestColumns() {
        let columns = commitFilter.withRouter { $0.columnsOfConditions }
        guard columns != requestedColumns else { return }
        requestedColumns = columns
        source.requestColumns(Array(columns))
    }

    /// Applies what has been committed, and delivers the updates.
    ///
    /// - Parameter isUrgent: Whether nodes do at once what they would put off.
    package func catchUp(isUrgent: Bool = false) {
        guard !slots.isEmpty, mayBeBehind || isUrgent && !postponed.isEmpty else { return }
        do {
            try step(isUrgent: isUrgent) { snapshot in
                isUrgent ? postponed.map { finishStep($0, snapshot) } : []
            }
        } catch {
            fail(Array(slots.keys), error)
        }
    }

    /// Whether there may be commits that weren't applied. Commits of this process are in the inbox before they return.
    private var mayBeBehind: Bool { !source.emitsEvents || isBehind || inbox?.hasPending ?? true }
}
