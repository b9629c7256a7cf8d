internal import CSQLite
internal import Foundation
package import StorageCore
package import StorageLog

/// Changes of an entity's schema that can't be derived from its new declaration. Each is part of the current commit and
/// does nothing if the entity doesn't exist. A column that doesn't exist is awaited from a later step: the store may be
/// from before it was added.
extension LogWriter {
    /// Renames a column.
    package func renameColumn(
        _ column: String, to name: String, in table: String, awaiting: inout AwaitedColumns
    ) throws {
        guard let entity = catalog.entity(named: table) else { return }
        guard let known = entity.column(named: column) else {
            awaiting.remove(column, of: entity)
            if entity.column(named: name) != nil { return }
            return awaiting.insert(name, of: entity, else: .missing(column, in: entity, "rename to \"\(name)\""))
        }
        guard entity.column(named: name) == nil else {
            throw StorageError(
                .schemaMismatch, "\"\(table)\" has both a column \"\(column)\" and a column \"\(name)\".",
                remedy: "Drop one of them, or rename to another name.")
        }
        try statement("ALTER TABLE \(quoted(entity.stored)) RENAME COLUMN \(quoted(known.stored)) TO \(quoted(name))")
            .execute()
        try schemaChanged()
        guard column.folded == name.folded, var renamed = catalog.entity(id: entity.id),
            let index = renamed.columns.firstIndex(where: { $0.id == known.id })
        else { return }
        // SQLite ignores case, so comparing the schemas hasn't found it.
        (renamed.columns[index].name, renamed.columns[index].stored) = (name, name)
        record(renamed)
    }

    /// Gives an entity and its table another name.
    package func renameEntity(_ table: String, to name: String) throws {
        guard let entity = catalog.entity(named: table) else { return }
        guard catalog.entity(named: name) == nil,
            catalog.entity(stored: name) == nil || entity.stored.folded == name.folded
        else {
            throw StorageError(
                .schemaMismatch, "There is both an entity \"\(table)\" and an entity \"\(name)\".",
                remedy: "Declare renameEntity before the autoSchema that would make \"\(name)\".")
        }
        try EntityDefinition(name: name, columns: []).validateName()
        var stored = entity.stored
        // SQLite ignores case, so it refuses the new name while the table has the old one.
        if stored.folded == name.folded, stored != name {
            let temporary = "\(name) renamed"
            try statement("ALTER TABLE \(quoted(stored)) RENAME TO \(quoted(temporary))").execute()
            try schemaChanged()
            stored = temporary
        }
        try statement("ALTER TABLE \(quoted(stored)) RENAME TO \(quoted(name))").execute()
        try schemaChanged()
    }

    /// Drops a column and the indexes on that column alone.
    package func dropColumn(_ column: String, from table: String, awaiting: inout AwaitedColumns) throws {
        guard let entity = catalog.entity(named: table) else { return }
        guard let known = entity.column(named: column) else { return awaiting.remove(column, of: entity) }
        guard known.keyOrdinal == 0 else {
            throw StorageError(
                .schemaMismatch, "\"\(column)\" is the primary key of \"\(table)\".",
                remedy: "The key of an entity stays; declare a new entity and copy the rows in a migration.")
        }
        for index in try indexes(of: entity) where index.consists(of: known) {
            try statement("DROP INDEX main.\(quoted(index.name))").execute()
        }
        try drop(known, of: entity)
        try schemaChanged()
    }

    /// Deletes an entity's rows, then its table.
    package func dropEntity(_ table: String) throws {
        guard let entity = catalog.entity(named: table) else { return }
        try statement("DELETE FROM \(quoted(entity.stored))").execute()
        try statement("DROP TABLE \(quoted(entity.stored))").execute()
        try schemaChanged()
    }

    /// Replaces a column by one of another type, and converts each row's value with `convert`. The new one has the collation and
    /// the foreign key of the old one.
    ///
    /// The new column has an id of its own, so that earlier events keep their meaning. It records the column whose
    /// values it was converted from, and the step that did it, so that history can be read in the current schema. Indexes that
    /// use the column are created again.
    ///
    /// - Parameter keepsType: Whether values are converted also where the column has the type already. Otherwise it counts as
    ///   converted, as in a table that was imported in its current form.
    package func convertColumn(
        _ column: String, of table: String, to schema: ColumnSchema, title: String, keepsType: Bool = false,
        awaiting: inout AwaitedColumns,
        _ convert: (StorageValue) throws -> StorageValue
    ) throws {
        guard let entity = catalog.entity(named: table) else { return }
        guard let known = entity.column(named: column) else {
            awaiting.remove(column, of: entity)
            return awaiting.insert(column, of: entity, else: .missing(column, in: entity, "convert"))
        }
        guard known.keyOrdinal == 0 else {
            throw StorageError(
                .schemaMismatch, "\"\(column)\" is the primary key of \"\(table)\".",
                remedy: "The key of an entity stays; declare a new entity and copy the rows in a migration.")
        }
        if !keepsType, known.type == schema.type, known.required == schema.notNull { return }
        if let problem = schema.problem ?? schema.creationProblem {
            throw StorageError(
                .schemaMismatch, "\"\(entity.name)\".\"\(column)\" can't be converted: \(problem)",
                remedy: "Correct the type.")
        }
        let temporary = "\(column) converted"
        let converted = EntityDefinition.Column(
            ColumnSchema(
                name: temporary, type: schema.type, notNull: schema.notNull, defaultValue: schema.defaultValue,
                coding: schema.coding))
        try add(
            [converted], to: entity, constraints: constraints(of: known, in: entity, required: schema.notNull))
        try fill(temporary, of: entity, from: quoted(known.stored)) { old in
            do {
                return try convert(old)
            } catch {
                throw StorageError(
                    .migrationFailed,
                    "The value \(old) of \"\(entity.name)\".\"\(known.name)\" can't be converted: \(error)",
                    remedy: "Return a value for it from the closure, or correct the row first.", cause: error)
            }
        }
        let indexes = try indexes(of: entity).filter { $0.mentions(known) }
        for index in indexes { try statement("DROP INDEX main.\(quoted(index.name))").execute() }
        try drop(known, of: entity)
        try schemaChanged()
        try statement(
            "ALTER TABLE \(quoted(entity.stored)) RENAME COLUMN \(quoted(temporary)) TO \(quoted(known.stored))"
        ).execute()
        for index in indexes { try statement(index.sql).execute() }
        try schemaChanged()
        guard var renamed = catalog.entity(id: entity.id),
            let index = renamed.columns.firstIndex(where: { !$0.isDropped && $0.stored.folded == known.stored.folded })
        else { return }
        renamed.columns[index].name = column
        renamed.columns[index].origin = known.id
        renamed.columns[index].definition = title
        record(renamed)
    }

    /// The collation and the foreign keys of a column as SQL for the definition of the one that replaces it; empty if it has none.
    ///
    /// - Throws: `schema-mismatch` for a `CHECK`, whose condition needn't hold for the new values, and for a foreign key that the
    ///   new column can't have.
    private func constraints(of column: CatalogColumn, in entity: CatalogEntity, required: Bool) throws -> String {
        if entity.hasConstraint("CHECK", inDefinitionOf: column) {
            throw StorageError(
                .schemaMismatch,
                "\"\(entity.name)\".\"\(column.name)\" can't be converted, because it has a CHECK of its own.",
                remedy: "Convert it in a migration that recreates the table with the CHECK that you want.")
        }
        let keys = try PreparedStatement(
            database,
            """
            SELECT f."table", f."to", f.on_update, f.on_delete,
                (SELECT count(*) FROM temp.pragma_foreign_key_list(?1) AS g WHERE g.id = f.id)
            FROM temp.pragma_foreign_key_list(?1) AS f WHERE f."from" = ?2 COLLATE NOCASE ORDER BY f.id
            """)
        keys.bind(text: entity.stored, at: 1)
        keys.bind(text: column.stored, at: 2)
        var clauses: [String] = []
        if column.collation != CatalogColumn.binary { clauses.append(" COLLATE \(quoted(column.collation))") }
        while try keys.step() {
            let (update, delete) = (keys.string(2), keys.string(3))
            let obstacle: String? =
                if keys.integer(4) > 1 {
                    "has several columns"
                } else if entity.definitions.table.lowercasedASCII.contains("initially deferred") {
                    "may be violated until a transaction ends"
                } else if required, [update, delete].contains("SET NULL") {
                    "makes the column NULL, and the new one must have a value"
                } else {
                    nil
                }
            if let obstacle {
                throw StorageError(
                    .schemaMismatch,
                    "\"\(entity.name)\".\"\(column.name)\" can't be converted, because its foreign key \(obstacle).",
                    remedy: "Convert it in a migration that recreates the table with the foreign key that you want.")
            }
            let referenced = keys.row.isNull(at: 1) ? "" : "(\(quoted(keys.string(1))))"
            clauses.append(
                " REFERENCES \(quoted(keys.string(0)))\(referenced) ON UPDATE \(update) ON DELETE \(delete)")
        }
        return clauses.joined()
    }

    /// Sets a column of each row to what `convert` returns for the value of an expression; the row stays as it is if it returns
    /// nil.
    func fill(
        _ name: String, of entity: CatalogEntity, from expression: String,
        _ convert: (StorageValue) throws -> StorageValue?
    ) throws {
        let rowid = try entity.rowid
        let table = quoted(entity.stored)
        // A row at a time, each looked up again, because the table is changed while it is read.
        let next = try PreparedStatement(
            database,
            "SELECT \(rowid), \(expression) FROM \(table) WHERE \(rowid) >= ?1 ORDER BY \(rowid) LIMIT 1")
        let update = try PreparedStatement(
            database, "UPDATE \(table) SET \(quoted(name)) = ?1, _position = ?2 WHERE \(rowid) = ?3")
        var first: Int64? = .min
        while let least = first {
            next.bind(least, at: 1)
            guard try next.step() else { return }
            let row = next.integer(0)
            first = row < .max ? row + 1 : nil
            let old = next.row.value(at: 1)
            next.reset()
            guard let new = try convert(old) else { continue }
            try update.writer.bind(new, at: 1)
            update.bind(nextPosition, at: 2)
            update.bind(row, at: 3)
            try update.execute()
        }
    }
}

extension StorageError {
    fileprivate static func missing(_ column: String, in entity: CatalogEntity, _ purpose: String) -> StorageError {
        StorageError(
            .schemaMismatch, "\"\(entity.name)\" has no column \"\(column)\" to \(purpose).",
            remedy: "It has \(entity.live.map(\.name).joined(separator: ", ")); correct the name.")
    }
}
