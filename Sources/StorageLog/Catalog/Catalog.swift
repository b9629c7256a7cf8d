/// The entities of a store: their names, tables and columns by id.
///
/// The catalog is itself an entity of the store, so that its changes are events like any other and a reader of an earlier
/// position can know the schema as recorded there. Entities and columns are never removed, only marked as dropped: old events
/// still refer to them.
package struct Catalog: Sendable, Equatable {
    package private(set) var entities: [CatalogEntity] = []
    private var indexOfEntity: [UInt32: Int] = [:]
    private var entityOfColumn: [UInt32: UInt32] = [:]

    package init() {}

    package mutating func add(_ entity: CatalogEntity) {
        indexOfEntity[entity.id] = entities.count
        entities.append(entity)
        for column in entity.columns { entityOfColumn[column.id] = entity.id }
    }

    package mutating func replace(_ entity: CatalogEntity) {
        guard let index = indexOfEntity[entity.id] else { return add(entity) }
        entities[index] = entity
        for column in entity.columns { entityOfColumn[column.id] = entity.id }
    }

    package func entity(id: UInt32) -> CatalogEntity? { indexOfEntity[id].map { entities[$0] } }

    /// The entity that has this name now.
    package func entity(named name: String) -> CatalogEntity? {
        entities.first { !$0.isDropped && $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// The ids of the entities that have one of these names, or had it when they were dropped; all of users' entities if `names`
    /// is empty.
    package func entities(named names: [String]) -> Set<UInt32> {
        let names = Set(names.map(ExactText.init))
        return Set(
            entities.filter { entity in
                !entity.isReserved && (names.isEmpty || names.contains(ExactText(entity.name)))
            }.map(\.id))
    }

    package func entity(stored table: String) -> CatalogEntity? {
        entities.first { !$0.isDropped && $0.stored.folded == table.folded }
    }

    package func column(id: UInt32) -> CatalogColumn? {
        entityOfColumn[id].flatMap { entity(id: $0) }?.columns.first { $0.id == id }
    }

    /// Users' entities whose tables exist.
    package var live: [CatalogEntity] { entities.filter { !$0.isDropped && !$0.isReserved } }

    package var nextId: UInt32 {
        var highest = CatalogEntity.lastReservedId
        for entity in entities {
            highest = max(highest, entity.id)
            for column in entity.columns { highest = max(highest, column.id) }
        }
        return highest + 1
    }
}
