extension CatalogEntity {
    /// Ids up to this one belong to the store itself; users' entities and columns follow.
    package static let lastReservedId: UInt32 = 31

    /// The store's own entities, which are known without being read: their changes are events like any other, but they
    /// are no data of users, so whatever reports, compares or reverts users' rows leaves them out.
    package static let reserved: [CatalogEntity] = [.catalog, .tag, .note, .operation]

    package static func isReserved(_ id: UInt32) -> Bool { id <= lastReservedId }

    /// Whether its events say something about the history and change neither rows nor tables: tags, notes and what was
    /// done to the store. A commit of nothing else isn't what users count.
    package static func isAnnotation(_ id: UInt32) -> Bool { isReserved(id) && id != catalog.id }

    /// Whether it is one of the store's own.
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
