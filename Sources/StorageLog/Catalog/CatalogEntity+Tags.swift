extension CatalogEntity {
    /// Names of points.
    package static let tag = CatalogEntity(
        id: 14, name: "storage_tag", stored: "storage_tag",
        columns: [
            CatalogColumn(id: 15, name: "name", type: "TEXT", keyOrdinal: 1, required: true),
            CatalogColumn(id: 16, name: "position", type: "INTEGER", required: true),
            CatalogColumn(id: 17, name: "note", type: "TEXT"),
        ])

    /// Notes on points.
    package static let note = CatalogEntity(
        id: 18, name: "storage_note", stored: "storage_note",
        columns: [
            CatalogColumn(id: 19, name: "position", type: "INTEGER", keyOrdinal: 1),
            CatalogColumn(id: 20, name: "text", type: "TEXT", required: true),
        ])
}
