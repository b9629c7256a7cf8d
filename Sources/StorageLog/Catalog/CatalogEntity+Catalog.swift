extension CatalogEntity {
    /// Ids up to this one belong to the store itself; users' entities and columns follow.
    package static let lastReservedId: UInt32 = 31

    /// The store's own entities, which are known without reading the catalog. Their changes are events like any other, but they
    /// aren't users' data, so reports, comparisons and reverts of users' rows exclude them.
    package static let reserved: [CatalogEntity] = [.catalog, .tag, .note, .operation]

    package static func isReserved(_ id: UInt32) -> Bool { id <= lastReservedId }

    /// Whether the entity's events describe the history and change neither rows nor tables: tags, notes and operations on the
    /// store. A commit of only such events isn't counted as a user's.
    package static func isAnnotation(_ id: UInt32) -> Bool { isReserved(id) && id != catalog.id }

    /// Whether the entity is one of the store's own.
    package var isReserved: Bool { Self.isReserved(id) }

    /// The catalog as an entity.
    package static let catalog = CatalogEntity(
        id: 1, name: "storage_catalog", stored: "storage_catalog",
        columns: [
            CatalogColumn(id: 2, name: "id", type: "INTEGER", keyOrdinal: 1),
            CatalogColumn(id: 3, name: "entity", type: "INTEGER", required: true),
            CatalogColumn(id: 4, name: "name", type: "TEXT", required: true),
            CatalogColumn(id: 5, name: "stored", type: "TEXT", required: true),
            CatalogColumn(id: 6, name: "type", type: "TEXT", required: true),
            CatalogColumn(id: 7, name: "key_place", type: "INTEGER", required: true),
            CatalogColumn(id: 8, name: "required", type: "INTEGER", required: true),
            CatalogColumn(id: 9, name: "fallback", type: ""),
            CatalogColumn(id: 10, name: "coding", type: "TEXT", required: true),
            CatalogColumn(id: 11, name: "dropped", type: "INTEGER", required: true),
            CatalogColumn(id: 12, name: "definition", type: "TEXT", required: true),
            CatalogColumn(id: 13, name: "origin", type: "INTEGER", required: true),
            CatalogColumn(id: 27, name: "affinity", type: "TEXT", required: true),
            CatalogColumn(id: 28, name: "collation", type: "TEXT", required: true),
            CatalogColumn(id: 29, name: "strict", type: "INTEGER", required: true),
            CatalogColumn(id: 30, name: "generated", type: "INTEGER", required: true),
        ])
}
