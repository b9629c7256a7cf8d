internal import StorageCore
internal import StorageLog
package import StorageRouting

// Nodes come and go, and are asked for something.

extension SubscriptionEngine {
    /// Takes in a node, and reads what it begins with.
    ///
    /// - Throws: What its first read throws; it isn't kept then.
    package func add<Node: LiveNode>(_ node: Node, _ pendingUpdate: PendingUpdate<Node.Update>) throws -> LiveHandle {
        try add(node, pendingUpdate, isBound: false) { _, _, snapshot in try node.reload(snapshot) }
    }

    /// Takes in a node, and brings it to the state of a step.
    ///
    /// - Parameters:
    ///   - isBound: Whether it knows a layout already, and has read an earlier state.
    ///   - begin: Brings it there, once changes find it by the token. What it throws is thrown; the node isn't kept then.
    func add<Node: LiveNode>(
        _ node: Node, _ pendingUpdate: PendingUpdate<Node.Update>, isBound: Bool,
        _ begin: ([Registration], [RowLayout], Snapshot) throws -> Void
    ) throws -> LiveHandle {
        if case .closed = phase { throw StorageError.closed() }
        node.pendingUpdate = pendingUpdate
        if slots.isEmpty { follow() }
        let id = makeId()
        do {
            let interests = node.interests
            updateInterest(try interests.map { try entity(named: $0.entity).id })
            try step(reading: interests) { snapshot in
                // The schema may have changed since it was looked at.
                let layouts = try interests.map { try layout(entity(named: $0.entity), snapshot) }
                if !isBound { try node.bind(to: layouts) }
                let registrations = try register(node, layouts)
                do {
                    try begin(registrations, layouts, snapshot)
                } catch {
                    unregister(registrations)
                    throw error
                }
                slots[id] = Slot(node: node, registrations: [])
                own(registrations, by: id)
                return [isBound ? finishStep(id, snapshot) : try conclude(id, snapshot)]
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

    /// Lets changes find a node's interests.
    func register(_ node: any LiveNode, _ layouts: [RowLayout]) throws -> [Registration] {
        var registrations: [Registration] = []
        do {
            for (interest, layout) in zip(node.interests, layouts) {
                registrations.append(try register(interest, layout))
            }
        } catch {
            unregister(registrations)
            throw error
        }
        return registrations
    }

    private func register(_ interest: Interest, _ layout: RowLayout) throws -> Registration {
        let affecting = try interest.columns.map { try layout.mask(of: $0) } ?? .all
        let token = try commitFilter.withRouter { router in
            try router.register(
                layout.entity, where: interest.predicate, matching: interest.expression, affecting: affecting)
        }
        return Registration(entity: layout.entity, token: token)
    }

    /// Lets changes find a node by the interests that it has now: those of included rows follow from the rows that it holds.
    private func registerAgain(_ id: Int, _ node: any LiveNode, _ snapshot: Snapshot) throws {
        let changed = node.takeChangedInterests()
        guard !changed.isEmpty, let old = slots[id]?.registrations, !old.isEmpty else { return }
        let interests = node.interests
        for index in changed {
            guard let layout = commitFilter.withRouter({ $0.layout(of: old[index].entity) }) else { throw StaleNode() }
            let new = try register(interests[index], layout)
            disown([old[index]])
            unregister([old[index]])
            slots[id]?.registrations[index] = new
            owners[new.token] = Owner(id: id, interest: index)
        }
        // What was held back meanwhile concerned nobody by the interests from before.
        if commitFilter.hasSkipped(since: snapshot.position) { inbox?.readAgain(after: snapshot.position) }
    }

    /// Ends what a step has done to a node.
    ///
    /// - Returns: What is new of it, for its consumer.
    func conclude(_ id: Int, _ snapshot: Snapshot) throws -> Delivery? {
        guard let node = slots[id]?.node else { return nil }
        try registerAgain(id, node, snapshot)
        return node.publish(at: snapshot.position)
    }

    func unregister(_ registrations: [Registration]) {
        commitFilter.withRouter { router in
            for registration in registrations { router.remove(registration.token) }
        }
    }

    /// Says whose the registrations are.
    func own(_ registrations: [Registration], by id: Int) {
        slots[id]?.registrations = registrations
        unregistered.remove(id)
        for (interest, registration) in registrations.enumerated() {
            owners[registration.token] = Owner(id: id, interest: interest)
        }
    }

    func disown(_ registrations: [Registration]) {
        for registration in registrations { owners[registration.token] = nil }
    }

    /// Does nothing for a node that is gone.
    func remove(_ id: Int) {
        guard let slot = slots.removeValue(forKey: id) else { return }
        disown(slot.registrations)
        unregister(slot.registrations)
        unregistered.remove(id)
        postponed.remove(id)
        updateInterest()
        requestColumns()
        if slots.isEmpty { suspend() }
    }

    /// Shows another part of a list's rows.
    package func move(_ handle: LiveHandle, offset: Int, limit: Int?) throws {
        try change(handle) { node, snapshot in
            try (node as? any WindowNode)?.move(offset: offset, limit: limit, snapshot)
        }
    }

    /// Asks a node for something that it does on the store's state, and publishes what comes of it.
    func change(
        _ handle: LiveHandle, _ body: @Sendable (any LiveNode, Snapshot) throws -> Void
    ) throws {
        guard let node = slots[handle.id]?.node else { throw StorageError.closed() }
        try step { snapshot in
            try body(node, snapshot)
            try node.finishStep(snapshot)
            return [try conclude(handle.id, snapshot)]
        }
    }

    /// Reloads one node, whatever has or hasn't happened.
    package func refresh(_ handle: LiveHandle) throws {
        guard slots[handle.id] != nil else { throw StorageError.closed() }
        try step { [reload(handle.id, $0)] }
    }

    package func explain(_ handle: LiveHandle) -> SubscriptionExplanation? {
        slots[handle.id]?.registrations.first.flatMap { first in commitFilter.withRouter { $0.explain(first.token) } }
    }
}
