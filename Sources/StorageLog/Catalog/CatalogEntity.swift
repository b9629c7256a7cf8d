internal import StorageCore

/// One entity of the catalog: a table whose changes are recorded.
package struct CatalogEntity: Sendable, Equatable {
    package let id: UInt32
    /// The name that users know; any Unicode text.
    package var name: String
    /// The table's name in SQLite, which folds case and reserves some names.
    package var stored: String
    package var columns: [CatalogColumn]
    package var isDropped = false
    /// Whether the table is STRICT: its columns reject values of other types.
    package var isStrict = false
    /// The SQL of the table, then of its indexes and triggers, one statement each, so that they can be recreated and a change
    /// made outside StorageKit is detected.
    package var definition: [String] = []
    /// The names of SQLite's rowid that columns of another program hide, which the catalog doesn't know.
    package private(set) var hiddenRowidNames: Set<String> = []

    package init(id: UInt32, name: String, stored: String, columns: [CatalogColumn]) {
        self.id = id
        self.name = name
        self.stored = stored
        self.columns = columns
    }

    /// The ids of the table's current columns, by their names in the table.
    package var idsByStoredName: [ExactText: UInt32] {
        Dictionary(live.map { ($0.stored.folded, $0.id) }) { first, _ in first }
    }

    /// The table's current columns.
    package var live: [CatalogColumn] { columns.filter { !$0.isDropped } }
    /// The primary key, in order. A dropped entity keeps it, because its events still name their rows by it; a column of the key is
    /// never dropped alone.
    package var key: [CatalogColumn] {
        columns.filter { $0.keyOrdinal > 0 && (isDropped || !$0.isDropped) }.sorted { $0.keyOrdinal < $1.keyOrdinal }
    }

    package func column(named name: String) -> CatalogColumn? {
        columns.first { !$0.isDropped && $0.name.utf8.elementsEqual(name.utf8) }
    }

    /// The column that another was converted from; nil if it wasn't converted.
    package func origin(of column: CatalogColumn) -> CatalogColumn? {
        column.origin == 0 ? nil : columns.first { $0.id == column.origin }
    }

    /// The intended SQL of the table, and that of its indexes and triggers.
    package var definitions: (table: String, rest: [String]) {
        guard isReserved else { return (definition.first ?? "", Array(definition.dropFirst())) }
        let table = StoreSchema.objects.first { $0.name == stored }?.sql ?? ""
        return (table, StoreSchema.objects.filter { $0.sql.contains(" ON \(stored)(") }.map(\.sql))
    }

    /// The statements of ``definitions``, to be run.
    ///
    /// - Throws: `corrupt` that names the table, if one doesn't create it, or any index or trigger, or isn't a single one.
    package var statements: (table: SchemaStatement, rest: [SchemaStatement]) {
        get throws {
            let (table, rest) = definitions
            return (
                try SchemaStatement(table, creating: .table, named: stored),
                try rest.map { try SchemaStatement($0, attachedTo: name) }
            )
        }
    }

    /// SQLite's names of the rowid, each as long as no column has it.
    static let rowidNames = ["rowid", "_rowid_", "oid"]

    /// The name by which SQLite's rowid can be selected: one that no column hides, neither of the catalog nor of the table.
    package var rowidName: String? {
        // Each changed row needs it, and nearly always it is the first one.
        Self.rowidNames.first { name in
            !hiddenRowidNames.contains(name)
                && !columns.contains { column in
                    !column.isDropped && column.stored.utf8.count == name.utf8.count
                        && column.stored.lowercasedASCII == name
                }
        }
    }

    /// The name by which SQLite's rowid can be selected.
    ///
    /// - Throws: `schema-mismatch` if columns hide every name of it.
    package var rowid: String {
        get throws {
            guard let rowidName else { throw StorageError.hiddenRowid(name) }
            return rowidName
        }
    }

    /// Notes which names of the rowid are hidden by columns that the catalog doesn't know.
    ///
    /// - Parameter columns: All columns that the table has now.
    mutating func noteHiddenRowidNames(by columns: [String]) {
        // Mostly none: this runs for every table when a store is opened.
        hiddenRowidNames = Set(columns.lazy.map(\.lowercasedASCII).filter { Self.rowidNames.contains($0) })
        guard !hiddenRowidNames.isEmpty else { return }
        hiddenRowidNames.subtract(live.lazy.map(\.stored.lowercasedASCII))
    }
}

extension StorageError {
    static func hiddenRowid(_ entity: String) -> StorageError {
        StorageError(
            .schemaMismatch, "\"\(entity)\" has columns rowid, oid and _rowid_, which hide SQLite's rowid.",
            remedy: "Rename one of them."
        ).causedBySchemaChange()
    }
}
