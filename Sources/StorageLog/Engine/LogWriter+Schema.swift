internal import CSQLite
internal import Foundation
internal import StorageCore

/// The writer's record of SQLite's schema, to detect what a statement did to it.
struct SchemaState {
    /// SQLite's own counter, which changes with every change of the schema.
    var version: Int64 = -1
    /// The tables as last read, so that only changed ones are inspected again.
    var introspected: IntrospectedSchema?
    /// Root page of each entity's table, which a rename leaves as it is.
    var roots: [UInt32: Int64] = [:]
    /// Entities with triggers of users.
    var triggered: Set<UInt32> = []
    /// Whether a failed statement may keep its earlier changes: see ``SchemaRow/usesFailResolution``.
    var usesFailResolution = false
    /// Whether an entity has tombstones in the file, if known.
    var tombstones: [UInt32: Bool] = [:]
    /// Columns added in this transaction whose rows don't hold their default yet.
    var unfilled: Set<UInt32> = []
    /// The index of each column in its table, by catalog id.
    var ordinals: [UInt32: Int] = [:]
    /// Entities whose tables were dropped in this commit.
    var dropped: [CatalogEntity] = []
    /// Entities whose tables were missing when the store was opened.
    var missing: Set<UInt32> = []
    /// Entities whose tables another program had changed before the store was opened. The difference isn't recorded as a change
    /// of a later commit.
    var foreign: Set<UInt32> = []
    /// Entities whose tables were recreated in this commit, and whose new rows the log doesn't have yet.
    var replaced: Set<UInt32> = []
}

extension LogWriter {
    /// Installs capture for the current schema. Called once after opening.
    ///
    /// - Parameter toleratesLoss: Whether tables may be missing, which ``missingEntities`` then returns.
    func watchSchema(toleratesLoss: Bool = false) throws {
        let found = try readSchema()
        noteHiddenRowidNames(found)
        (schema.missing, schema.foreign, schema.replaced, schema.dropped) = ([], [], [], [])
        for entity in catalog.live {
            if let table = found.tables[entity.stored.folded] {
                adopt(table, for: entity.id)
                if !table.definition.isExactly(entity.definition) { schema.foreign.insert(entity.id) }
            } else if toleratesLoss {
                schema.missing.insert(entity.id)
            } else {
                throw StorageError.corruptLog("the table of entity \"\(entity.name)\" is missing")
            }
        }
        try defineCapture(found)
        schema.version = found.version
        learnOwnObjects(found)
        let context = Unmanaged.passUnretained(self).toOpaque()
        storage_capture_on_schema_change(
            capture,
            { context in
                // Sound: the writer owns the capture and outlives it.
                let writer = Unmanaged<LogWriter>.fromOpaque(context!).takeUnretainedValue()
                return writer.schemaMayHaveChanged() ? 0 : 1
            }, context)
    }

    /// Entities whose tables another program has dropped. They have to be rebuilt from the log before anything else.
    package var missingEntities: [CatalogEntity] { catalog.live.filter { schema.missing.contains($0.id) } }

    /// Called before the first statement after one that may have changed the schema.
    private func schemaMayHaveChanged() -> Bool {
        storage_capture_take_schema_suspicion(capture)
        do {
            try compareSchema()
            if !captureHasFailed { schemaFailure = nil }
            return true
        } catch {
            if !captureHasFailed || schemaFailure == nil { schemaFailure = error }
            return false
        }
    }

    /// Whether the current commit has a change that can't be followed. Its reason is the first failure, whatever the schema is now.
    private var captureHasFailed: Bool {
        var (entity, column): (UInt32, UInt32) = (0, 0)
        return storage_capture_error(capture, &entity, &column) != Int32(STORAGE_CAPTURE_OK)
    }

    /// Forgets, when a commit begins, the states that earlier ones could return to. The group itself changes the schema between commits.
    func forgetSchemaStates() {
        storage_capture_take_schema_undone(capture)
        changes.states = [:]
        schemaFailure = nil
    }

    /// Records, before a commit is finished, changes of tables as catalog events of the same commit.
    func recordSchemaChanges() throws {
        storage_capture_take_schema_suspicion(capture)
        try compareSchema()
        if let replaced = replacedEntities.first { throw StorageError.recreatedTable(replaced.name) }
        changes.states = [:]
        schema.dropped = []
        guard !changes.rows.isEmpty || !schema.unfilled.isEmpty else { return }
        try fillNewColumns()
        let rows = changes.rows.sorted { $0.key < $1.key }
        changes.rows = [:]
        for (_, row) in rows { try writeCatalog(row) }
    }

    /// Restores the catalog's earlier state after a rollback.
    func forgetCatalogChanges() throws {
        schema.tombstones = [:]
        guard catalogIsDirty else { return }
        changes = CatalogChanges()
        schema.unfilled = []
        schema.dropped = []
        schema.replaced = []
        catalog = try Catalog.load(database)
        // Where rebuilding missing tables failed, they are missing again, and the failure's own error is the relevant one.
        try watchSchema(toleratesLoss: !schema.missing.isEmpty)
        for projection in projections { try projection.reload(from: self) }
    }

    /// Declares or changes an entity. Its table must exist already.
    package func record(_ entity: CatalogEntity) {
        let old = catalog.entity(id: entity.id).map(Catalog.rows(of:)) ?? [:]
        for (id, row) in Catalog.rows(of: entity) where old[id] != row { changes.rows[id] = row }
        catalog.replace(entity)
        changes.isCaptureOutdated = true
        changes.areUnreported = true
        catalogIsDirty = true
    }

    /// The least id that is neither in the catalog nor in a row that is still to be written.
    var nextCatalogId: UInt32 { max(catalog.nextId, (changes.rows.keys.max() ?? 0) + 1) }

    /// Registers tables that the engine itself has just created or changed.
    package func schemaChanged() throws { try compareSchema() }

    private func writeCatalog(_ row: CatalogRow) throws {
        let insert = try statement(Catalog.upsert)
        try insert.bind(row.values)
        insert.bind(nextPosition, at: Int32(row.values.count + 1))
        try insert.execute()
    }
}

// MARK: Other programs

extension LogWriter {
    /// Takes over what another program did to the schema since the last transaction. Called when a transaction begins: what changes
    /// later is the work of its own statements.
    ///
    /// A `VACUUM` moves every table to another root page, by which the writer recognises one that was renamed or replaced. A table
    /// with the same SQL is followed there; the comparison finds what became of its indexes and triggers. All are followed or none:
    /// an old root beside new ones could be that of another entity's table by now. A dropped table isn't recorded as dropped,
    /// because opening the store rebuilds it from the log.
    ///
    /// - Throws: `corrupt` if the table of an entity is missing, and `schema-mismatch` if it was moved and isn't the same or doesn't have its rows.
    func followOtherPrograms() throws {
        guard try schemaVersion().version != schema.version else { return }
        let found = try IntrospectedSchema(database, knowing: schema.introspected)
        // What is there when a transaction begins was made by others.
        guarded.hidingBuiltIn.formUnion(found.hidingBuiltIn)
        var moved: [(entity: CatalogEntity, root: Int64)] = []
        for entity in catalog.live where !schema.missing.contains(entity.id) {
            let name = entity.stored.folded
            guard let table = found.tables[name] else {
                guard isRenamed(entity, found) else { throw StorageError.droppedTable(entity.name) }
                continue
            }
            guard table.root != schema.roots[entity.id] else { continue }
            guard let earlier = schema.introspected?.tables[name],
                table.definition.first.map(ExactText.init) == earlier.definition.first.map(ExactText.init)
            else { throw StorageError.exchangedTable(entity.name) }
            if try isReplaced(entity) { throw StorageError.exchangedTable(entity.name) }
            moved.append((entity, table.root))
        }
        for (entity, root) in moved {
            schema.roots[entity.id] = root
            schema.introspected?.tables[entity.stored.folded]?.root = root
        }
        noteHiddenRowidNames(found)
        schema.usesFailResolution = found.usesFailResolution
    }

    /// Notes in the catalog which names of the rowid are hidden by columns that it doesn't know, after tables were replaced.
    package func noteHiddenRowidNames() throws { noteHiddenRowidNames(try readSchema()) }

    /// Notes in the catalog which names of the rowid are hidden by columns that it doesn't know.
    private func noteHiddenRowidNames(_ found: IntrospectedSchema) {
        for var entity in catalog.live {
            guard let table = found.tables[entity.stored.folded] else { continue }
            let former = entity.hiddenRowidNames
            entity.noteHiddenRowidNames(by: table.columns.map(\.name))
            if entity.hiddenRowidNames != former { catalog.replace(entity) }
        }
    }

    /// Whether the rows of a table that was moved aren't those that the log has: another program has created it again with the same
    /// SQL. One row is read: a program copies the positions of all rows or of none.
    private func isReplaced(_ entity: CatalogEntity) throws -> Bool {
        database.forgetCompiledStatements()
        let reader = LogReader(database)
        let select = try PreparedStatement(
            database, "SELECT _position FROM main.\(quoted(entity.stored)) WHERE _position > 0 LIMIT 1")
        if try select.step() {
            let position = select.integer(0)
            guard position <= head.position, let batch = try reader.batch(containing: position) else { return true }
            return batch.withView { $0.shape(of: Int(position - batch.header.first)).entity != entity.id }
        }
        var isInLog = false
        try reader.forEachLastEvent(of: entity.id, at: head.position) { _, _ in
            isInLog = true
            return false
        }
        return isInLog
    }

    /// Whether a table that no entity has is where the entity's own was.
    private func isRenamed(_ entity: CatalogEntity, _ found: IntrospectedSchema) -> Bool {
        found.tables.values.contains { table in
            table.root == schema.roots[entity.id] && table.columns.contains { $0.name == "_position" }
                && catalog.entity(stored: table.name) == nil
        }
    }
}

// MARK: Comparing

extension LogWriter {
    private func compareSchema() throws {
        let (version, isTraced) = try schemaVersion()
        // After a savepoint was undone, the same number can mean another schema.
        let returned = storage_capture_take_schema_undone(capture) != 0 && returnToCatalog(at: version)
        let hasMoved = version != schema.version
        guard hasMoved || returned || changes.isCaptureOutdated else { return }
        guard isTraced || !(hasMoved || returned) else { throw StorageError.untracedSchemaChange() }
        // Before anything that may fail, so that an undone commit leaves nothing of this one.
        catalogIsDirty = true
        // A copy of the catalog. It is needed for the commit's beginning and where a savepoint is open: nothing else can be undone
        // alone.
        if hasMoved, !returned, changes.states.isEmpty || storage_capture_depth(capture) > 1 {
            changes.states[schema.version] = CatalogState(catalog: catalog, rows: changes.rows, schema: schema)
        }
        // As the catalog in memory has it: what was undone has returned with the catalog.
        let before = schema.introspected
        let found = try readSchema()
        for entity in catalog.live where !isUnchanged(entity, found, since: before) { try compare(entity, with: found) }
        for entity in schema.dropped where found.tables[entity.stored.folded] != nil {
            guard catalog.entity(stored: entity.stored) == nil else { continue }
            schema.dropped.removeAll { $0.id == entity.id }
            schema.replaced.insert(entity.id)
            record(entity)
        }
        if hasMoved || returned {
            try checkOwnObjects(found)
            // A temporary table that was harmless before may hide the entity that has just got its name.
            guarded.isSuspect = true
        }
        try defineCapture(found)
        schema.version = version
        changes.isCaptureOutdated = false
    }

    /// Whether the table of an entity is the same as before, and matches the catalog.
    private func isUnchanged(_ entity: CatalogEntity, _ found: IntrospectedSchema, since before: IntrospectedSchema?)
        -> Bool
    {
        let name = entity.stored.folded
        let isForeign = schema.foreign.contains(entity.id)
        guard let table = found.tables[name], table.root == schema.roots[entity.id] else { return false }
        guard let earlier = before?.tables[name] else { return isForeign }
        return table.root == earlier.root && table.definition.isExactly(earlier.definition)
            && (isForeign || table.definition.isExactly(entity.definition))
    }

    /// Restores the schema's known state from before the changes that were just undone.
    private func returnToCatalog(at version: Int64) -> Bool {
        guard let state = changes.states[version] else { return false }
        catalog = state.catalog
        changes.rows = state.rows
        let tombstones = schema.tombstones
        schema = state.schema
        schema.tombstones = tombstones
        changes.states = changes.states.filter { $0.key < version }
        return true
    }

    private func compare(_ entity: CatalogEntity, with found: IntrospectedSchema) throws {
        var entity = entity
        schema.foreign.remove(entity.id)
        let root = schema.roots[entity.id]
        let byName = found.tables[entity.stored.folded]
        if schema.replaced.contains(entity.id), byName != nil { return }
        if let byName, root != nil, byName.root != root, !found.tables.values.contains(where: { $0.root == root }) {
            schema.replaced.insert(entity.id)
            return
        }
        let table = byName?.root == root || root == nil ? byName : found.tables.values.first { $0.root == root }
        guard let table else {
            schema.dropped.append(entity)
            schema.replaced.remove(entity.id)
            entity.isDropped = true
            entity.columns = entity.columns.map { column in
                var column = column
                column.isDropped = true
                return column
            }
            schema.roots[entity.id] = nil
            record(entity)
            return
        }
        if ExactText(entity.stored) != ExactText(table.name) {
            if let other = catalog.entity(stored: table.name), other.id != entity.id {
                throw StorageError.recreatedTable(entity.name)
            }
            entity.stored = table.name
            entity.name = table.name
        }
        try compareColumns(&entity, with: table)
        entity.definition = table.definition
        // Recorded first, so that the indexes of columns that were just added are known when they are renamed.
        record(entity)
        adopt(table, for: entity.id)
    }

    private func compareColumns(_ entity: inout CatalogEntity, with table: IntrospectedTable) throws {
        if table.isReserved { throw StorageError.reservedTable(table.name) }
        guard table.hasRowid else { throw StorageError.tableWithoutRowid(entity.name) }
        guard table.columns.contains(where: { $0.name == "_position" }) else {
            throw StorageError.recreatedTable(entity.name)
        }
        if let column = table.columns.first(where: \.isGenerated) {
            throw StorageError.generatedColumn(column.name, of: entity.name)
        }
        let known = entity.live
        let names = Set(table.columns.map { $0.name.folded })
        let stored = Set(known.map { $0.stored.folded })
        var fresh = table.columns.filter { $0.name != "_position" && !stored.contains($0.name.folded) }
        let missing = known.filter { !names.contains($0.stored.folded) }
        for column in missing {
            guard let index = entity.columns.firstIndex(where: { $0.id == column.id }) else { continue }
            // A renamed column keeps its index in the table.
            let ordinal = schema.ordinals[column.id]
            if let renamed = fresh.firstIndex(where: { $0.ordinal == ordinal }) {
                entity.columns[index].name = fresh[renamed].name
                entity.columns[index].stored = fresh[renamed].name
                fresh.remove(at: renamed)
            } else if column.keyOrdinal > 0 {
                throw StorageError.recreatedTable(entity.name)
            } else {
                entity.columns[index].isDropped = true
            }
        }
        var next = nextCatalogId
        for column in fresh {
            let added = CatalogColumn(
                id: next, name: column.name, type: column.type, keyOrdinal: column.keyOrdinal,
                required: column.required,
                fallback: column.fallback)
            if added.fallback != .null { schema.unfilled.insert(added.id) }
            entity.columns.append(added)
            next += 1
        }
        entity.isStrict = table.isStrict
        let present = entity.columns.indices.filter { !entity.columns[$0].isDropped }
        let indexes = Dictionary(present.map { (entity.columns[$0].stored.folded, $0) }) { first, _ in first }
        for column in table.columns {
            guard let index = indexes[column.name.folded] else { continue }
            (entity.columns[index].affinity, entity.columns[index].collation) = (column.affinity, column.collation)
        }
        entity.noteHiddenRowidNames(by: table.columns.map(\.name))
        // Back-links find rows by their rowid.
        _ = try entity.rowid
    }

    private func adopt(_ table: IntrospectedTable, for entity: UInt32) {
        schema.roots[entity] = table.root
        if table.hasTriggers { schema.triggered.insert(entity) } else { schema.triggered.remove(entity) }
        guard let known = catalog.entity(id: entity) else { return }
        let ids = known.idsByStoredName
        for column in table.columns {
            if let id = ids[column.name.folded] { schema.ordinals[id] = column.ordinal }
        }
    }

    /// Rows that are older than `ADD COLUMN … DEFAULT` don't hold the column; writing it once makes every later image complete.
    private func fillNewColumns() throws {
        guard !schema.unfilled.isEmpty else { return }
        let columns = schema.unfilled
        schema.unfilled = []
        try asEngine {
            database.setTriggersEnabled(false)
            defer { database.setTriggersEnabled(true) }
            for entity in catalog.live {
                for column in entity.live where columns.contains(column.id) {
                    let name = quoted(column.stored)
                    try statement("UPDATE \(quoted(entity.stored)) SET \(name) = \(name)").execute()
                }
            }
        }
    }
}

extension StorageError {
    fileprivate static func reservedTable(_ table: String) -> StorageError {
        StorageError(
            .schemaMismatch, "The table of an entity was renamed to \"\(table)\", a name that is reserved.",
            remedy: "Choose a name that doesn't begin with storage_."
        ).causedBySchemaChange()
    }

    fileprivate static func generatedColumn(_ column: String, of entity: String) -> StorageError {
        StorageError(
            .schemaMismatch,
            "\"\(entity)\" gets a generated column \"\(column)\", and values that are computed have no history.",
            remedy: "Compute it in a view or in the query, or let a trigger fill a column of its own."
        ).causedBySchemaChange()
    }

    static func tableWithoutRowid(_ entity: String) -> StorageError {
        StorageError(
            .schemaMismatch, "The new table of \"\(entity)\" is WITHOUT ROWID, and history needs the rowid.",
            remedy: "Leave out WITHOUT ROWID."
        ).causedBySchemaChange()
    }

    static func recreatedTable(_ name: String) -> StorageError {
        StorageError(
            .schemaMismatch,
            "The table of entity \"\(name)\" was replaced by another table, which would cut its history.",
            remedy:
                "Change it with ALTER TABLE (ADD, RENAME or DROP COLUMN, RENAME TO), or recreate it in a migration of the schema, which records the changes of its rows."
        ).causedBySchemaChange()
    }
}
