internal import StorageCore
internal import StorageLog
internal import StorageRouting

// How changes find nodes: by the interests that they are registered for.

extension SubscriptionEngine {
    /// The interests of a node, with those that its conditions in SQL add.
    func interests(of node: any LiveNode) throws -> [Interest] {
        let interests = node.interests
        guard !schema.isKnown, interests.contains(where: { !$0.predicate.sqlReadingTables.isEmpty }) else {
            return schema.addingReadTables(to: interests)
        }
        return try source.read([]) { try KnownSchema($0).addingReadTables(to: interests) }
    }

    /// Registers a node's interests with the router.
    func register(_ node: any LiveNode, _ layouts: [RowLayout]) throws -> [Registration] {
        var registrations: [Registration] = []
        do {
            // Those of a node that is bound: it may follow less then.
            let interests = schema.addingReadTables(to: node.interests)
            for (index, (interest, layout)) in zip(interests, layouts).enumerated() {
                registrations.append(try register(interest, layout, as: interest.isApplied ? index : nil))
            }
        } catch {
            unregister(registrations)
            throw error
        }
        find(registrations, by: node.takeValues(all: true))
        return registrations
    }

    private func register(_ interest: Interest, _ layout: RowLayout, as index: Int?) throws -> Registration {
        let affecting = try interest.columns.map { try layout.mask(of: $0) } ?? .all
        let token = try commitFilter.withRouter { router in
            try router.register(
                layout.entity, where: interest.predicate, matching: interest.expression,
                valuesOf: interest.valueColumn, affecting: affecting)
        }
        return Registration(entity: layout.entity, token: token, interest: index)
    }

    /// Updates the values by which changes find a node: included rows are found by the values of their owners.
    func updateValues(_ id: Int, in snapshot: Snapshot) {
        guard let slot = slots[id], !slot.registrations.isEmpty else { return }
        let values = slot.node.takeValues(all: false)
        guard !values.isEmpty else { return }
        find(slot.registrations, by: values)
        // Transactions that the filter has skipped meanwhile affected no node by the old values, but may by the new
        // ones.
        if commitFilter.hasSkipped(since: snapshot.position) { inbox?.readAgain(after: snapshot.position) }
    }

    private func find(_ registrations: [Registration], by values: [HeldValues]) {
        guard !values.isEmpty else { return }
        commitFilter.withRouter { router in
            for held in values {
                router.change(registrations[held.interest].token, adding: held.added, removing: held.removed)
            }
        }
    }

    func unregister(_ registrations: [Registration]) {
        commitFilter.withRouter { router in
            for registration in registrations { router.remove(registration.token) }
        }
    }

    /// Records the node that the registrations belong to.
    func own(_ registrations: [Registration], by id: Int) {
        slots[id]?.registrations = registrations
        unregistered.remove(id)
        for registration in registrations {
            owners[registration.token] = Owner(id: id, interest: registration.interest)
        }
    }

    func disown(_ registrations: [Registration]) {
        for registration in registrations { owners[registration.token] = nil }
    }
}
