internal import GRDB
internal import StorageCore
internal import StorageLog
internal import StorageRouting

// The entities of the store, which may change while nodes look at them.

extension SubscriptionEngine {
    func entity(named name: String) throws -> CatalogEntity {
        if let entity = schema.entity(named: name) { return entity }
        // Its version stays unknown, so that the next step looks at everything.
        let catalog = try source.read([]) { try Catalog.load($0.log) }
        if let entity = catalog.entity(named: name) { return entity }
        throw StorageError.noEntity(name)
    }

    func layout(_ entity: CatalogEntity, _ snapshot: Snapshot) throws -> RowLayout {
        if let known = commitFilter.withRouter({ $0.layout(of: entity.id) }) { return known }
        let connection = try snapshot.rows.connection
        let layout = RowLayout(entity, in: connection, fullText: schema.fullText(of: entity.id))
        commitFilter.withRouter { $0.add(layout) }
        return layout
    }

    /// Forgets the layouts of entities that have changed, and binds their nodes to the new ones.
    ///
    /// - Returns: The nodes that have to be reloaded.
    func noticeSchema(_ snapshot: Snapshot, _ state: FeedState) throws -> Set<Int> {
        guard try !schema.isCurrent(state) else { return [] }
        // Before subscriptions are removed.
        commitFilter.close()
        let known = schema
        schema = try KnownSchema(state)
        let stale = Set(
            slots.filter { _, slot in
                let interests = schema.addingReadTables(to: slot.node.interests)
                // Where it couldn't be registered before, it is tried again.
                return interests.count != slot.registrations.count
                    || !schema.hasSameViews(as: known) && !interests.allSatisfy(\.isApplied)
                    || !zip(interests, slot.registrations).allSatisfy { interest, registration in
                        schema.entity(named: interest.entity)?.id == registration.entity
                            && schema.hasSame(registration.entity, as: known)
                    }
            }.map(\.key))
        let changed = Set(stale.flatMap { slots[$0]?.registrations.map(\.entity) ?? [] }).filter { entity in
            !schema.hasSame(entity, as: known)
        }
        commitFilter.withRouter { router in
            for entity in changed { router.forget(entity) }
            router.forgetUnused()
        }
        for id in stale { rebind(id, snapshot) }
        requestColumns()
        return stale
    }

    /// Registers a node again after its entity has changed.
    private func rebind(_ id: Int, _ snapshot: Snapshot) {
        guard let slot = slots[id] else { return }
        disown(slot.registrations)
        unregister(slot.registrations)
        // If it can't be registered, reloading it fails in the same way and reports why.
        slots[id] = Slot(node: slot.node, registrations: [])
        unregistered.insert(id)
        let interests = schema.addingReadTables(to: slot.node.interests)
        let layouts = interests.compactMap { interest in
            schema.entity(named: interest.entity).flatMap { try? layout($0, snapshot) }
        }
        guard layouts.count == interests.count, (try? slot.node.bind(toAll: layouts)) != nil,
            let registrations = try? register(slot.node, layouts)
        else { return }
        own(registrations, by: id)
        updateInterest(layouts.map(\.entity))
        // The inbox lacks earlier commits of an entity that wasn't requested yet.
        inbox?.readAgain(after: snapshot.position)
    }
}
