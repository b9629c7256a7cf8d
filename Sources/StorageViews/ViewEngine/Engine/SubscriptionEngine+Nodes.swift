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
        _ begin: (SubscriptionToken, RowLayout, Snapshot) throws -> Void
    ) throws -> LiveHandle {
        if case .closed = phase { throw StorageError.closed() }
        node.pendingUpdate = pendingUpdate
        if slots.isEmpty { follow() }
        let id = makeId()
        do {
            let entity = try entity(named: node.interest.entity)
            updateInterest(entity.id)
            try step(reading: node.interest) { snapshot in
                // The schema may have changed since it was looked at.
                let entity = try self.entity(named: node.interest.entity)
                let layout = try self.layout(entity, snapshot)
                if !isBound { try node.bind(to: layout) }
                let token = try register(node, entity: entity.id, layout: layout)
                do {
                    try begin(token, layout, snapshot)
                } catch {
                    commitFilter.withRouter { $0.remove(token) }
                    throw error
                }
                slots[id] = Slot(node: node, entity: entity.id, token: token)
                owners[token] = id
                return [isBound ? finishStep(id, snapshot) : node.publish(at: snapshot.position)]
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

    func register(_ node: any LiveNode, entity: UInt32, layout: RowLayout) throws -> SubscriptionToken {
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

    /// Reloads one node, whatever has or hasn't happened.
    package func refresh(_ handle: LiveHandle) throws {
        guard slots[handle.id] != nil else { throw StorageError.closed() }
        try step { [reload(handle.id, $0)] }
    }

    package func explain(_ handle: LiveHandle) -> SubscriptionExplanation? {
        slots[handle.id].flatMap { slot in commitFilter.withRouter { $0.explain(slot.token) } }
    }
}
