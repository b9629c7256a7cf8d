internal import CSQLite
internal import Foundation
internal import GRDB
package import StorageCore
package import StorageLog

/// What an entity's table is to look like: from a record type, or from what an importer infers.
package struct EntityDefinition: Sendable {
    package struct Column: Sendable {
        package var schema: ColumnSchema
        /// The column's name in SQLite, where the entity's own can't be used.
        package var stored: String
        package var coding: String
        /// Whether a column of texts from JSON is `TEXT` in SQL, so that queries may write its texts as numbers. A number is
        /// kept as the bytes of its JSON source there (``CatalogColumn/storesNumbers``).
        package var isText = false

        package init(_ schema: ColumnSchema, stored: String? = nil, coding: String? = nil) {
            self.schema = schema
            self.stored = stored ?? schema.name
            self.coding = coding ?? schema.coding
        }
    }

    package var name: String
    package var stored: String
    package var columns: [Column]
    /// Whether these are all columns of the entity, and not only those that are known so far.
    package var isWhole = false

    package init(name: String, stored: String? = nil, columns: [Column]) {
        self.name = name
        self.stored = stored ?? name
        self.columns = columns
    }

    package init<Record: StorageKitEntityRecord>(_ record: Record.Type) {
        self.init(name: Record.databaseTableName, columns: Record.schemaColumns.map { Column($0) })
        isWhole = true
    }
}

extension LogWriter {
    /// Makes the entity's table, or adds the columns that it lacks. Part of the commit under way.
    ///
    /// - Throws: `schema-mismatch` where a column that is there has another type or key.
    package func declare(_ definition: EntityDefinition) throws {
        try definition.validate()
        guard let known = catalog.entity(named: definition.name) else { return try create(definition) }
        if definition.isWhole { try definition.checkUndeclared(in: known) }
        let indexes = Dictionary(
            known.columns.indices.filter { !known.columns[$0].isDropped }.map {
                (ExactText(known.columns[$0].name), $0)
            }
        ) { first, _ in first }
        var adopted = known
        var fresh: [EntityDefinition.Column] = []
        for column in definition.columns {
            if let index = indexes[ExactText(column.schema.name)] {
                try adopted.columns[index].check(column, of: known)
                adopted.columns[index].adoptCoding(of: column)
            } else {
                fresh.append(column)
            }
        }
        if adopted != known {
            record(adopted)
            try schemaChanged()
        }
        guard !fresh.isEmpty else { return }
        guard known.live.count + fresh.count <= Limits.columns else { throw StorageError.tooManyColumns(known.name) }
        try add(fresh, to: adopted)
    }

    private func create(_ definition: EntityDefinition) throws {
        try checkFree(definition)
        try statement(definition.createTable).execute()
        var next = catalog.nextId
        var entity = CatalogEntity(id: next, name: definition.name, stored: definition.stored, columns: [])
        var ordinal = 0
        for column in definition.columns {
            next += 1
            if column.schema.primaryKey { ordinal += 1 }
            entity.columns.append(
                CatalogColumn(
                    id: next, name: column.schema.name, stored: column.stored, type: column.schema.type,
                    keyOrdinal: column.schema.primaryKey ? ordinal : 0, required: column.schema.notNull,
                    coding: column.coding))
        }
        record(entity)
        try schemaChanged()
    }

    /// - Throws: `schema-mismatch` where something that isn't the entity has its table's name.
    private func checkFree(_ definition: EntityDefinition) throws {
        let select = try statement("SELECT type FROM sqlite_schema WHERE name = ?1 COLLATE NOCASE")
        select.bind(text: definition.stored, at: 1)
        defer { select.reset() }
        guard try select.step() else { return }
        throw StorageError(
            .schemaMismatch,
            "There is a \(try select.row.text(at: 0)) \"\(definition.stored)\" that was made with SQL and isn't the entity \"\(definition.name)\".",
            remedy:
                "Call adopt(\"\(definition.stored)\") before autoSchema if it is the entity's table; otherwise rename one of them."
        )
    }

    /// Adds a column to an entity's table.
    func add(_ column: EntityDefinition.Column, to entity: CatalogEntity) throws { try add([column], to: entity) }

    /// Adds columns to an entity's table, and looks at the schema once, at their end.
    private func add(_ columns: [EntityDefinition.Column], to entity: CatalogEntity) throws {
        for column in columns { try addToTable(column, of: entity) }
        try schemaChanged()
        guard var entity = catalog.entity(id: entity.id) else { return }
        // The table has names and types; what the declaration says beyond that is added here.
        let ids = entity.idsByStoredName
        let indexById = Dictionary(uniqueKeysWithValues: entity.columns.enumerated().map { ($1.id, $0) })
        for column in columns {
            guard let index = ids[column.stored.folded].flatMap({ indexById[$0] }) else { continue }
            entity.columns[index].name = column.schema.name
            entity.columns[index].coding = column.coding
            entity.columns[index].type = column.schema.type
        }
        record(entity)
    }

    private func addToTable(_ column: EntityDefinition.Column, of entity: CatalogEntity) throws {
        guard !column.schema.primaryKey else { throw StorageError.keyChanged(entity.name) }
        // SQLite adds no column that refers to a row and has a default.
        var definition = column.columnSQL(
            refers: !column.schema.notNull && column.schema.defaultValue == nil, isStrict: entity.isStrict)
        if let value = column.schema.defaultValue ?? (column.schema.notNull ? column.schema.neutralValue : nil) {
            definition += " DEFAULT \(value)"
        } else if column.schema.notNull {
            throw StorageError(
                .schemaMismatch,
                "\"\(entity.name)\" gets a column \"\(column.schema.name)\" that must have a value, and its rows from before have none.",
                remedy:
                    "Make the property optional, give it a constant as its value, or add the column with a DEFAULT in a migration before autoSchema."
            )
        }
        try PreparedStatement(database, "ALTER TABLE \(quoted(entity.stored)) ADD COLUMN \(definition)").execute()
    }
}

extension EntityDefinition {
    var createTable: String {
        let key = columns.filter(\.schema.primaryKey).map { quoted($0.stored) }.joined(separator: ", ")
        let lines = columns.map { $0.columnSQL() } + ["_position INTEGER NOT NULL DEFAULT 0", "PRIMARY KEY (\(key))"]
        return "CREATE TABLE \(quoted(stored)) (\n  \(lines.joined(separator: ",\n  "))\n)"
    }

    /// What the store has and the declaration doesn't must be distinguished from what was renamed, and mustn't make every
    /// insert fail.
    fileprivate func checkUndeclared(in known: CatalogEntity) throws {
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

    /// - Throws: Where an entity can't have this name.
    func validateName() throws {
        let reserved = stored.lowercasedASCII
        guard !reserved.isEmpty, !reserved.hasPrefix("storage_"), !reserved.hasPrefix("sqlite_") else {
            throw StorageError(
                .invalidName, "An entity can't be named \"\(name)\".",
                remedy: "Names that are empty or begin with storage_ or sqlite_ are reserved; choose another.")
        }
    }

    func validate() throws {
        for name in [name, stored] + columns.flatMap({ [$0.schema.name, $0.stored] }) {
            guard !name.utf8.contains(0) else {
                throw StorageError(.invalidName, "The name \"\(name)\" contains NUL.", remedy: "Remove it.")
            }
            guard name.utf8.count <= Limits.nameBytes else {
                throw StorageError(
                    .limitExceeded, "The name \"\(name.prefix(40))…\" is longer than \(Limits.nameBytes) bytes.",
                    remedy: "Choose a shorter name.")
            }
        }
        try validateName()
        for column in columns where column.schema.notNull && column.schema.reference?.onDelete == .setNull {
            throw StorageError(
                .schemaMismatch,
                "\"\(name)\".\"\(column.schema.name)\" must have a value, and can't become NULL when the row that it refers to is deleted.",
                remedy: "Make the property optional, or choose another delete rule.")
        }
        for case let problem? in columns.map(\.schema.problem) {
            throw StorageError(
                .schemaMismatch, "\"\(name)\" can't be declared: \(problem)",
                remedy: "Correct the type, or store the property as JSON with @StorageJSON.")
        }
        var seen: Set<ExactText> = ["_position".folded]
        for column in columns where !seen.insert(column.stored.folded).inserted {
            throw StorageError(
                .invalidName, "\"\(name)\" has two columns named \"\(column.stored)\" (or one that is reserved).",
                remedy: "Rename one; SQLite ignores case, and _position belongs to StorageKit.")
        }
        guard columns.contains(where: \.schema.primaryKey) else {
            throw StorageError(
                .schemaMismatch, "\"\(name)\" has no primary key.", remedy: "Mark a column as primary key.")
        }
        guard columns.count(where: \.schema.primaryKey) <= Limits.keyColumns else {
            throw StorageError(
                .limitExceeded, "The key of \"\(name)\" has more than \(Limits.keyColumns) columns.",
                remedy: "Mark fewer columns as primary key.")
        }
        guard columns.count <= Limits.columns else { throw StorageError.tooManyColumns(name) }
        let hidden = Set(columns.map(\.stored.lowercasedASCII))
        guard !hidden.isSuperset(of: ["rowid", "oid", "_rowid_"]) else {
            throw StorageError(
                .invalidName, "\"\(name)\" has columns rowid, oid and _rowid_, which hide SQLite's rowid.",
                remedy: "Rename one of them.")
        }
    }
}

extension EntityDefinition.Column {
    /// - Parameters:
    ///   - refers: Whether a foreign key is part of it.
    ///   - isStrict: Whether the table is STRICT: each column has one of a few types there, and ANY is as good as none.
    func columnSQL(refers: Bool = true, isStrict: Bool = false) -> String {
        // A column with REAL affinity turns -0.0 into 0.0, so reals live in columns without a type.
        // Columns of imported histories keep whatever kind of value comes, and those of texts no numbers
        // (`CatalogColumn.storesNumbers`).
        let isOpen = CatalogColumn.isImported(coding) && !isText
        let untyped =
            schema.type.isEmpty || schema.type == Double.columnType || isOpen
            || isStrict && !["INTEGER", "TEXT", "BLOB"].contains(schema.type)
        let type = untyped ? isStrict ? " ANY" : "" : " " + schema.type
        var sql = quoted(stored) + type + (schema.notNull || schema.primaryKey ? " NOT NULL" : "")
        if refers, let reference = schema.reference {
            sql +=
                " REFERENCES \(quoted(reference.table))(\(quoted(reference.column))) ON DELETE \(reference.onDelete.rawValue)"
        }
        return sql
    }
}

extension CatalogColumn {
    /// Whether the column keeps every value of a property with this type as it is. A table that was made with SQL names
    /// its types as it likes (`NVARCHAR(160)`); what SQLite makes of the name counts there.
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

    fileprivate func isNamed(_ name: String) -> Bool { self.name.utf8.elementsEqual(name.utf8) }

    /// A table that was made with SQL doesn't know that its bytes are UUIDs.
    fileprivate mutating func adoptCoding(of column: EntityDefinition.Column) {
        if !isImported, !CatalogColumn.isImported(column.coding) { coding = column.coding }
    }

    fileprivate func check(_ column: EntityDefinition.Column, of entity: CatalogEntity) throws {
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
    fileprivate static func tooManyColumns(_ entity: String) -> StorageError {
        StorageError(
            .limitExceeded, "\"\(entity)\" has more than \(Limits.columns) columns.",
            remedy: "Split it in two entities.")
    }

    fileprivate static func keyChanged(_ entity: String) -> StorageError {
        StorageError(
            .schemaMismatch, "The primary key of \"\(entity)\" isn't the one in the store.",
            remedy: "Keep the key as it is, or declare a new entity.")
    }
}

extension EntityDefinition {
    /// Holds the declaration to a store that can't be changed.
    ///
    /// - Throws: `schema-mismatch` where a table or column is missing there, or of another type.
    package func check(against catalog: Catalog) throws {
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
