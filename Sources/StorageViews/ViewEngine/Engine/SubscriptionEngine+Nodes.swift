internal import StorageCore
internal import StorageEntities
internal import StorageLog
package import StorageRouting

// Adding, removing and changing nodes.

extension SubscriptionEngine {
    /// Adds a node, and reads its first value.
    ///
    /// - Throws: What its first read throws; the node isn't added then.
    package func add<Node: LiveNode>(_ node: Node, _ pendingUpdate: PendingUpdate<Node.Update>) throws -> LiveHandle {
        try add(node, pendingUpdate, isBound: false) { _, _, snapshot in try node.readAgain(snapshot) }
    }

    /// Adds a node, and brings it to the state of a step.
    ///
    /// - Parameters:
    ///   - isBound: Whether the node has its layouts already, and has read an earlier state.
    ///   - begin: Brings the node to the state, after it is registered. If it throws, the node isn't added.
    func add<Node: LiveNode>(
        _ node: Node, _ pendingUpdate: PendingUpdate<Node.Update>, isBound: Bool,
        _ begin: ([Registration], [RowLayout], Snapshot) throws -> Void
    ) throws -> LiveHandle {
        if case .closed = phase { throw StorageError.closed() }
        node.pendingUpdate = pendingUpdate
        if slots.isEmpty { follow() }
        let id = makeId()
        do {
            let interests = try interests(of: node)
            updateInterest(try interests.map { try entity(named: $0.entity).id })
            try step(reading: interests) { snapshot in
                // The schema may have changed since it was read.
                let interests = schema.addingReadTables(to: node.interests)
                let layouts = try interests.map { try layout(entity(named: $0.entity), snapshot) }
                if !isBound { try node.bind(toAll: layouts) }
                let registrations = try register(node, layouts)
                do {
                    try begin(registrations, layouts, snapshot)
                } catch {
                    unregister(registrations)
                    throw error
                }
                slots[id] = Slot(node: node, registrations: [])
                own(registrations, by: id)
                return [isBound ? finishStep(id, snapshot) : conclude(id, snapshot)]
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

    /// Ends what a step has done to a node.
    ///
    /// - Returns: What is new of it, for its consumer.
    func conclude(_ id: Int, _ snapshot: Snapshot) -> Delivery? {
        guard let node = slots[id]?.node else { return nil }
        assert(!hasFailed(id), "A node that has failed is read again before it publishes anything.")
        updateValues(id, in: snapshot)
        return node.publish(at: snapshot.position)
    }

    /// Does nothing for a node that is gone.
    func remove(_ id: Int) {
        guard let slot = slots.removeValue(forKey: id) else { return }
        disown(slot.registrations)
        unregister(slot.registrations)
        unregistered.remove(id)
        cancelTimer(of: id)
        updateInterest()
        requestColumns()
        if slots.isEmpty { suspend() }
    }

    /// Moves a list's window to another part of its rows.
    package func move(_ handle: LiveHandle, offset: Int, limit: Int?) throws {
        try change(handle) { node, snapshot in
            try (node as? any WindowNode)?.move(offset: offset, limit: limit, snapshot)
        }
    }

    /// Changes a node in the store's current state, and publishes the result.
    func change(
        _ handle: LiveHandle, _ body: @Sendable (any LiveNode, Snapshot) throws -> Void
    ) throws {
        guard let node = slots[handle.id]?.node else { throw StorageError.closed() }
        try step { snapshot in
            do {
                try body(node, snapshot)
                guard !hasFailed(handle.id) else { throw StaleNode() }
                try node.settle(snapshot)
                return [conclude(handle.id, snapshot)]
            } catch is StaleNode {
                return [reload(handle.id, snapshot)]
            } catch {
                // The change may be half done, with rows that changes don't find.
                pendingDeliveries.append(reload(handle.id, snapshot))
                throw error
            }
        }
    }

    /// Reloads one node unconditionally.
    package func refresh(_ handle: LiveHandle) throws {
        guard slots[handle.id] != nil else { throw StorageError.closed() }
        try step { [reload(handle.id, $0)] }
    }

    /// How changes reach a node; nil if it was removed or can't be registered.
    ///
    /// - Throws: If the store, which is read for its indexes, can't be read.
    package func explain(_ handle: LiveHandle) throws -> SubscriptionExplanation? {
        guard let slot = slots[handle.id] else { return nil }
        let interests = schema.addingReadTables(to: slot.node.interests)
        let tables = commitFilter.withRouter { router in
            zip(interests, slot.registrations).compactMap { interest, registration in
                router.explain(registration.token).map(interest.explained)
            }
        }
        // Historical tables are built for the read: their indexes say nothing about the store's.
        let warnings =
            source.needsInterests
            ? [] : try source.read([]) { try MissingIndexes($0.rows).warnings(of: interests.flatMap(\.lookups)) }
        return SubscriptionExplanation(tables, warnings: warnings)
    }
}
