internal import StorageCore

/// One entity of the catalog: a table whose changes are recorded.
package struct CatalogEntity: Sendable, Equatable {
    package let id: UInt32
    /// The name that users give it; any Unicode text.
    package var name: String
    /// The table's name in SQLite, which folds case and reserves some names.
    package var stored: String
    package var columns: [CatalogColumn]
    package var isDropped = false
    /// Whether the table is STRICT: its columns take no values of other types.
    package var isStrict = false
    /// The SQL of the table, then of its indexes and triggers, a statement each, so that they can be made again and a change
    /// of them behind our back is seen.
    package var definition: [String] = []

    package init(id: UInt32, name: String, stored: String, columns: [CatalogColumn]) {
        self.id = id
        self.name = name
        self.stored = stored
        self.columns = columns
    }

    /// The ids of the columns that the table has now, by the names that they have there.
    package var idsByStoredName: [ExactText: UInt32] {
        Dictionary(live.map { ($0.stored.folded, $0.id) }) { first, _ in first }
    }

    /// The columns that the table has now.
    package var live: [CatalogColumn] { columns.filter { !$0.isDropped } }
    /// The primary key, in order.
    package var key: [CatalogColumn] {
        columns.filter { $0.keyOrdinal > 0 && !$0.isDropped }.sorted { $0.keyOrdinal < $1.keyOrdinal }
    }

    package func column(named name: String) -> CatalogColumn? {
        columns.first { !$0.isDropped && $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// The column that another was converted from; nil where it has values of its own from the beginning.
    package func origin(of column: CatalogColumn) -> CatalogColumn? {
        column.origin == 0 ? nil : columns.first { $0.id == column.origin }
    }

    /// The SQL of the table, and that of its indexes and triggers, as they are to be.
    package var definitions: (table: String, rest: [String]) {
        guard isReserved else { return (definition.first ?? "", Array(definition.dropFirst())) }
        let table = StoreSchema.objects.first { $0.name == stored }?.sql ?? ""
        return (table, StoreSchema.objects.filter { $0.sql.contains(" ON \(stored)(") }.map(\.sql))
    }

    /// The name by which SQLite's row number can be reached: one that no column hides.
    package var rowidName: String? {
        let taken = Set(live.map(\.stored.lowercasedASCII))
        return ["rowid", "_rowid_", "oid"].first { !taken.contains($0) }
    }
}
