/// One change of the schema between two states of the catalog.
package enum SchemaChange: Sendable, Equatable {
    case tableAdded(CatalogEntity)
    /// The entity before it was dropped.
    case tableDropped(CatalogEntity)
    case tableRenamed(from: CatalogEntity, to: CatalogEntity)
    /// Only constraints, indexes or triggers of the table have changed.
    case tableRedefined(CatalogEntity)
    case columnAdded(CatalogColumn, of: CatalogEntity)
    case columnDropped(CatalogColumn, of: CatalogEntity)
    case columnRenamed(from: CatalogColumn, to: CatalogColumn, of: CatalogEntity)
    /// The declared type, or whether the column may be NULL.
    case columnChanged(from: CatalogColumn, to: CatalogColumn, of: CatalogEntity)
    /// A new column took over the converted values of another one.
    case columnConverted(from: CatalogColumn, to: CatalogColumn, of: CatalogEntity)

    /// All changes of users' entities, in the order of the catalog.
    package static func all(from old: Catalog, to new: Catalog) -> [SchemaChange] {
        let changes = new.entities.filter { !$0.isReserved }.flatMap { entity in
            Self.changes(from: old.entity(id: entity.id), to: entity)
        }
        // Going back in history, entities that didn't exist yet are dropped.
        let gone = old.entities.filter { !$0.isReserved && !$0.isDropped && new.entity(id: $0.id) == nil }
        return changes + gone.map { .tableDropped($0) }
    }

    private static func changes(from before: CatalogEntity?, to entity: CatalogEntity) -> [SchemaChange] {
        guard let before, !before.isDropped else { return entity.isDropped ? [] : [.tableAdded(entity)] }
        guard entity != before else { return [] }
        if entity.isDropped { return [.tableDropped(before)] }
        var changes: [SchemaChange] = []
        let isRenamed = ExactText(entity.name) != ExactText(before.name)
        if isRenamed { changes.append(.tableRenamed(from: before, to: entity)) }
        let columns = columnChanges(from: before, to: entity)
        changes += columns
        if columns.isEmpty, !isRenamed, entity.definition != before.definition {
            changes.append(.tableRedefined(entity))
        }
        return changes
    }

    private static func columnChanges(from before: CatalogEntity, to entity: CatalogEntity) -> [SchemaChange] {
        let known = before.live
        let converted = Set(entity.live.filter { column in !known.contains { $0.id == column.id } }.map(\.origin))
        var changes: [SchemaChange] = []
        for column in entity.live {
            guard let old = known.first(where: { $0.id == column.id }) else {
                let origin = known.first { column.origin != 0 && $0.id == column.origin }
                changes.append(
                    origin.map { .columnConverted(from: $0, to: column, of: entity) }
                        ?? .columnAdded(column, of: entity))
                continue
            }
            if ExactText(column.name) != ExactText(old.name) {
                changes.append(.columnRenamed(from: old, to: column, of: entity))
            }
            if ExactText(column.type) != ExactText(old.type) || column.required != old.required {
                changes.append(.columnChanged(from: old, to: column, of: entity))
            }
        }
        let gone = known.filter { old in !entity.live.contains { $0.id == old.id } && !converted.contains(old.id) }
        return changes + gone.map { .columnDropped($0, of: entity) }
    }

    /// The entity after the change; before it if the entity was dropped.
    package var entity: CatalogEntity {
        switch self {
        case .tableAdded(let entity), .tableDropped(let entity), .tableRenamed(_, let entity),
            .tableRedefined(let entity), .columnAdded(_, let entity), .columnDropped(_, let entity),
            .columnRenamed(_, _, let entity), .columnChanged(_, _, let entity), .columnConverted(_, _, let entity):
            entity
        }
    }
}
