extension CatalogEntity {
    /// Operations on the store as a whole; see ``StorageOperation``.
    package static let operation = CatalogEntity(
        id: 21, name: "storage_operation", stored: "storage_operation",
        columns: [
            CatalogColumn(id: 22, name: "id", type: "INTEGER", keyOrdinal: 1),
            CatalogColumn(id: 23, name: "command", type: "TEXT", required: true),
            CatalogColumn(id: 24, name: "subject", type: "TEXT"),
            CatalogColumn(id: 25, name: "outcome", type: "TEXT", required: true),
            CatalogColumn(id: 26, name: "at", type: "TEXT", required: true),
        ])
}
