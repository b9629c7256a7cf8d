internal import StorageCore
package import StorageLog

// Refuses declarations that differ from the store in ways that only the user can resolve.

extension EntityDefinition {
    /// Checks the store's columns that the declaration lacks: they must not be renamed ones, and must not make every
    /// insert fail.
    func checkUndeclared(in known: CatalogEntity) throws {
        let names = Set(columns.map { ExactText($0.schema.name) })
        let undeclared = known.live.filter { !names.contains(ExactText($0.name)) }
        let fresh = columns.filter { known.column(named: $0.schema.name) == nil }
        for column in undeclared {
            if let candidate = fresh.first(where: { $0.schema.type == column.type && $0.coding == column.coding }) {
                throw StorageError(
                    .schemaMismatch,
                    "The store's \"\(name)\" has a column \"\(column.name)\" that isn't declared, and \"\(candidate.schema.name)\" is new: was it renamed?",
                    remedy:
                        "Call renameColumn(\"\(column.name)\", to: \"\(candidate.schema.name)\", in: \"\(name)\") or dropColumn(\"\(column.name)\", from: \"\(name)\") before autoSchema."
                )
            }
            guard !column.required || column.fallback != .null || column.keyOrdinal > 0 else {
                throw StorageError(
                    .schemaMismatch,
                    "The store's \"\(name)\" has a column \"\(column.name)\" that must have a value, but isn't declared.",
                    remedy:
                        "Declare it, or call dropColumn(\"\(column.name)\", from: \"\(name)\") before autoSchema; the log keeps what it held."
                )
            }
        }
    }

    /// Checks the declaration against a store that can't be changed.
    ///
    /// - Throws: `schema-mismatch` if a property has no column at all, or if the store's entity lacks a column or has one of another
    ///   type.
    package func check(against catalog: Catalog) throws {
        try checkProblems()
        guard let known = catalog.entity(named: name) else { return }
        for column in columns {
            guard let existing = known.column(named: column.schema.name) else {
                throw StorageError(
                    .schemaMismatch, "The store's \"\(name)\" has no column \"\(column.schema.name)\" yet.",
                    remedy: "Open the store for writing once with this version, which adds it.")
            }
            try existing.check(column, of: known)
        }
    }
}

extension CatalogColumn {
    /// Whether the column stores every value of a property with this type unchanged. A table created with SQL may name
    /// its types freely (`NVARCHAR(160)`); there the affinity that SQLite derives from the name counts.
    private func takes(_ declared: String) -> Bool {
        if type == declared { return true }
        guard !["TEXT", "INTEGER", "REAL", "BOOLEAN", "DATETIME", "BLOB", ""].contains(type) else { return false }
        // Where nothing is converted, every value is kept.
        if affinity == .blob { return true }
        return switch declared {
        case "TEXT": affinity == .text
        case "INTEGER", "BOOLEAN": affinity == .integer || affinity == .numeric
        case "REAL": affinity == .real || affinity == .numeric
        case "DATETIME": affinity == .text || affinity == .numeric
        case "BLOB": affinity == .blob
        default: false
        }
    }

    /// A table that was made with SQL doesn't know that its bytes are UUIDs.
    mutating func adoptCoding(of column: EntityDefinition.Column) {
        if !isImported, !CatalogColumn.isImported(column.coding) { coding = column.coding }
    }

    func check(_ column: EntityDefinition.Column, of entity: CatalogEntity) throws {
        guard (keyOrdinal > 0) == column.schema.primaryKey else { throw StorageError.keyChanged(entity.name) }
        guard takes(column.schema.type),
            required == (column.schema.notNull || column.schema.primaryKey) || keyOrdinal > 0
        else {
            throw StorageError(
                .schemaMismatch,
                "Column \"\(name)\" of \"\(entity.name)\" is \(type)\(required ? " NOT NULL" : "") in the store, but declared \(column.schema.type)\(column.schema.notNull ? " NOT NULL" : "").",
                remedy:
                    "Call convertColumn(\"\(name)\", of: \"\(entity.name)\", to: …) before autoSchema, declare it as it is, or give the new column another name."
            )
        }
    }
}

extension StorageError {
    static func keyChanged(_ entity: String) -> StorageError {
        StorageError(
            .schemaMismatch, "The primary key of \"\(entity)\" isn't the one in the store.",
            remedy: "Keep the key as it is, or declare a new entity.")
    }
}
