internal import CSQLite
internal import GRDB
internal import StorageCore
package import StorageLog

extension LogWriter {
    /// Creates the entity's table, or adds missing columns. Part of the current commit.
    ///
    /// - Throws: `schema-mismatch` if an existing column has another type or key.
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
        try definition.checkCreation(of: fresh)
        guard known.live.count + fresh.count <= Limits.columns else { throw StorageError.tooManyColumns(known.name) }
        try add(fresh, to: adopted)
    }

    private func create(_ definition: EntityDefinition) throws {
        try definition.checkCreation(of: definition.columns)
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
        if let known = catalog.entity(stored: definition.stored) {
            throw StorageError(
                .schemaMismatch,
                "There is an entity \"\(known.name)\" whose table can't be distinguished from \"\(definition.stored)\": SQLite ignores case.",
                remedy:
                    "Call renameEntity(\"\(known.name)\", to: \"\(definition.name)\") before autoSchema, or use another name."
            )
        }
        throw StorageError(
            .schemaMismatch,
            "There is a \(try select.row.text(at: 0)) \"\(definition.stored)\" that was made with SQL and isn't the entity \"\(definition.name)\".",
            remedy:
                "Call adopt(\"\(definition.stored)\") before autoSchema if it is the entity's table; otherwise rename one of them."
        )
    }

    /// Adds columns to an entity's table, and looks at the schema once, at their end.
    ///
    /// - Parameter constraints: A collation and foreign keys beside the declared ones, as SQL for the definition of each column. If
    ///   the column has a default, foreign keys must be off.
    func add(_ columns: [EntityDefinition.Column], to entity: CatalogEntity, constraints: String = "") throws {
        for column in columns { try addToTable(column, of: entity, constraints: constraints) }
        try schemaChanged()
        guard var changed = catalog.entity(id: entity.id) else { return }
        // The table contains names and types; the rest of the declaration is added here.
        let ids = changed.idsByStoredName
        let indexById = Dictionary(uniqueKeysWithValues: changed.columns.enumerated().map { ($1.id, $0) })
        for column in columns {
            guard let index = ids[column.stored.folded].flatMap({ indexById[$0] }) else { continue }
            changed.columns[index].name = column.schema.name
            changed.columns[index].coding = column.coding
            changed.columns[index].type = column.schema.type
        }
        record(changed)
        for column in columns {
            guard let presence = column.presence(in: entity) else { continue }
            try complete(column, of: changed, where: presence)
        }
    }

    /// Gives a required part of an optional embedded value its neutral value in rows where the value isn't nil. A column's
    /// default would do so in the others too.
    private func complete(
        _ column: EntityDefinition.Column, of entity: CatalogEntity, where presence: String
    ) throws {
        guard let literal = column.schema.neutralValue else { return }
        let select = try PreparedStatement(database, "SELECT \(literal)")
        guard try select.step() else { return }
        let neutral = select.row.value(at: 0)
        select.reset()
        try fill(column.stored, of: entity, from: presence) { isPresent in
            guard isPresent == 1 else { return .none }
            return neutral
        }
    }

    private func addToTable(
        _ column: EntityDefinition.Column, of entity: CatalogEntity, constraints: String
    ) throws {
        guard !column.schema.primaryKey else { throw StorageError.keyChanged(entity.name) }
        if column.schema.neutralValue == nil, let presence = column.presence(in: entity),
            try PreparedStatement(database, "SELECT 1 FROM \(quoted(entity.stored)) WHERE \(presence) LIMIT 1").step()
        {
            throw StorageError(
                .schemaMismatch,
                "\"\(entity.name)\" gets a column \"\(column.schema.name)\" that must have a value where the embedded value isn't nil, and its rows from before have none.",
                remedy:
                    "Make the property optional, or add the column in a migration before autoSchema, with a value for these rows."
            )
        }
        // SQLite adds no column that refers to a row and has a default.
        var definition = column.columnSQL(
            refers: !column.schema.notNull && column.schema.defaultValue == nil, isStrict: entity.isStrict)
        definition += constraints
        if let value = column.schema.defaultValue ?? (column.schema.notNull ? column.neutralValue(in: entity) : nil) {
            definition += " DEFAULT \(value)"
        } else if column.schema.notNull {
            throw StorageError(
                .schemaMismatch,
                "\"\(entity.name)\" gets a column \"\(column.schema.name)\" that must have a value, and its rows from before have none.",
                remedy: column.schema.remedyForEarlierRows)
        }
        try PreparedStatement(database, "ALTER TABLE \(quoted(entity.stored)) ADD COLUMN \(definition)").execute()
    }
}

extension ColumnSchema {
    /// What to do if the column must have a value that earlier rows don't have.
    fileprivate var remedyForEarlierRows: String {
        switch (isPart, neutralValue) {
        case (false, _):
            "Make the property optional, give it a constant as its value, or add the column with a DEFAULT in a migration before autoSchema."
        case (true, nil):
            "Make the embedded property or this part of it optional, or add the column with a DEFAULT in a migration before autoSchema."
        case (true, _):
            "Make the embedded property optional, remove its initial value, or add the columns with a DEFAULT in a migration before autoSchema."
        }
    }
}
