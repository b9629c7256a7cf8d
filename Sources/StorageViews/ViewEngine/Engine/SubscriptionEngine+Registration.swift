internal import StorageCore
internal import StorageLog
internal import StorageRouting

// How changes find nodes: by the interests that they are registered for.

extension SubscriptionEngine {
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
    func registerAgain(_ id: Int, in snapshot: Snapshot) throws {
        guard let node = slots[id]?.node else { return }
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
}
