internal import GRDB
package import StorageCore
internal import StorageLog

/// What an entity's table is to look like: from a record type, or from what an importer infers.
package struct EntityDefinition: Sendable {
    package struct Column: Sendable {
        package var schema: ColumnSchema
        /// The column's name in SQLite, where the entity's own can't be used.
        package var stored: String
        package var coding: String
        /// Whether a column of texts from JSON is declared `TEXT` in SQL, so that queries may write its texts as
        /// numbers. It stores numbers as the bytes of their JSON source (``CatalogColumn/storesNumbers``).
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

extension EntityDefinition {
    fileprivate static let position = "_position INTEGER NOT NULL DEFAULT 0"

    var createTable: String {
        let key = columns.filter(\.schema.primaryKey).map { quoted($0.stored) }.joined(separator: ", ")
        let lines = columns.map { $0.columnSQL() } + [Self.position, "PRIMARY KEY (\(key))"]
        return "CREATE TABLE \(quoted(stored)) (\n  \(lines.joined(separator: ",\n  "))\n)"
    }
}

extension CatalogEntity {
    /// Whether its table was created for a record type, whose properties read its columns. An adopted table has its
    /// `_position` from `ALTER TABLE`, which begins no line.
    ///
    /// - Complexity: O(*n*) in the length of the table's SQL.
    package var isCreatedForRecord: Bool {
        definitions.table.split(separator: "\n").contains { $0.drop { $0 == " " }.hasPrefix(EntityDefinition.position) }
    }
}

extension EntityDefinition.Column {
    /// SQL for whether the optional embedded value of which the column is a required part isn't nil, by its other columns; nil
    /// if the entity has none of them.
    func presence(in entity: CatalogEntity) -> String? {
        let others = schema.siblings.compactMap { entity.column(named: $0) }
        guard !others.isEmpty else { return nil }
        return others.map { "\(quoted($0.stored)) IS NOT NULL" }.joined(separator: " OR ")
    }

    /// The value, as an SQL literal, that rows from before get if the column is required and has no default; nil if there is none.
    func neutralValue(in entity: CatalogEntity) -> String? {
        let parts = schema.partsOfInitialValue
        let isOfNewProperty = !parts.isEmpty && parts.allSatisfy { entity.column(named: $0) == nil }
        return isOfNewProperty ? nil : schema.neutralValue
    }

    /// - Parameters:
    ///   - refers: Whether to include the foreign key.
    ///   - isStrict: Whether the table is STRICT: then each column needs one of a few types, and ANY is equivalent to
    ///     none.
    func columnSQL(refers: Bool = true, isStrict: Bool = false) -> String {
        // A column with REAL affinity turns -0.0 into 0.0, so reals are stored in columns without a type. Columns of
        // imported histories store values of any type, those of texts no numbers (`CatalogColumn.storesNumbers`).
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
