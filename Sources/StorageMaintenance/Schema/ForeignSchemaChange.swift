package import StorageCore
package import StorageLog

/// How another program has changed the table of an entity, its indexes or its triggers: they differ from what the log says.
package struct ForeignSchemaChange: Sendable {
    private let name: String
    private let found: [String]?
    private let expected: [String]
    private let addedColumns: [String]
    private let missingColumns: [String]
    /// Whether the table is as the log says, apart from the columns that it lacks.
    private let isTableKnown: Bool

    /// - Returns: Nil if the table is as the log says.
    package init?(of entity: CatalogEntity, in definitions: StoredDefinitions) throws {
        found = definitions.definition(of: entity.stored)
        guard found != entity.definition else { return nil }
        (name, expected) = (entity.name, entity.definition)
        let select = try PreparedStatement(definitions.database, "SELECT name FROM temp.pragma_table_info(?1)")
        select.bind(text: entity.stored, at: 1)
        var columns: [String] = []
        while try select.step() { columns.append(select.string(0)) }
        let wanted = entity.live.map(\.stored) + ["_position"]
        let (known, there) = (Set(wanted.map(\.folded)), Set(columns.map(\.folded)))
        addedColumns = columns.filter { !known.contains($0.folded) }
        let (table, missing) = (found?.first, wanted.filter { !there.contains($0.folded) })
        missingColumns = missing
        isTableKnown =
            try table == nil || missing.isEmpty
            ? table == expected.first : table == Self.table(of: entity, without: missing)
    }

    /// The SQL that remains of an entity's table when columns are dropped; nil if SQLite can't drop them.
    private static func table(of entity: CatalogEntity, without columns: [String]) throws -> String? {
        let database = try Connection.inMemory()
        defer { database.close() }
        let name = quoted(entity.stored)
        do {
            guard let sql = TableSQL.renaming(try entity.statements.table.sql, to: name) else { return nil }
            try PreparedStatement(database, sql).execute()
            for column in columns {
                try PreparedStatement(database, "ALTER TABLE \(name) DROP COLUMN \(quoted(column))").execute()
            }
        } catch let error as StorageError where !error.isOfTheMachine {
            return nil
        }
        return try StoredDefinitions(database).definition(of: entity.stored)?.first
    }

    /// - Parameter names: The entities; all where empty.
    /// - Throws: `corrupt` if another program has changed one of their tables; the error names the difference.
    package static func check(
        of names: [String] = [], _ catalog: Catalog, in database: Connection
    ) throws {
        let definitions = try StoredDefinitions(database)
        for entity in catalog.live where names.isEmpty || names.contains(entity.name) {
            if let change = try ForeignSchemaChange(of: entity, in: definitions) { throw change.error }
        }
    }

    /// - Throws: `corrupt` if one of the entities' tables lacks what it takes to compare its rows with the log; the error names the
    ///   difference.
    static func checkColumns(of entities: [CatalogEntity], in database: Connection) throws {
        let definitions = try StoredDefinitions(database)
        for entity in entities {
            if let change = try ForeignSchemaChange(of: entity, in: definitions), change.lacksColumns {
                throw change.error
            }
        }
    }

    /// Whether there is no such table.
    package var isMissing: Bool { found == nil }

    /// Whether the table lacks what it takes to compare its rows with the log.
    package var lacksColumns: Bool { !missingColumns.isEmpty }

    /// Whether a rebuild would lose something that isn't in the log: columns, indexes, triggers or constraints.
    package var hasAdditions: Bool {
        guard let found else { return false }
        return !isTableKnown || !Self.objects(of: found, besides: expected).isEmpty
    }

    /// What differs: `column n was added, CREATE INDEX i ON t(n) was added`.
    package var differences: String {
        guard let found else { return "it was dropped or renamed" }
        var texts = addedColumns.map { "column \($0) was added" } + missingColumns.map { "column \($0) is missing" }
        if texts.isEmpty, found.first != expected.first { texts.append("its types, constraints or references differ") }
        texts += Self.objects(of: found, besides: expected).map { "\($0) was added" }
        texts += Self.objects(of: expected, besides: found).map { "\($0) is missing" }
        return texts.isEmpty ? "its definition differs" : texts.joined(separator: ", ")
    }

    package var error: StorageError {
        isMissing
            ? StorageError(
                .corrupt, "Another program has dropped or renamed the table \"\(name)\".",
                remedy: "Rename it back, or rebuild it from the log: storagekit rebuild \([name].quotedAsOperands)")
            : StorageError(
                .corrupt, "Another program has changed the table \"\(name)\": \(differences).",
                remedy:
                    "Undo that change, after you have copied what you need of it. To discard it, and what other programs have written to the table: storagekit rebuild \([name].quotedAsOperands)"
            )
    }

    /// The indexes and triggers of one definition that another lacks.
    private static func objects(of definition: [String], besides other: [String]) -> [String] {
        definition.dropFirst().filter { !other.dropFirst().contains($0) }.map { sql in
            // One line, and not a whole trigger.
            let line = sql.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            return line.count > 80 ? "\(line.prefix(79))…" : line
        }
    }
}
