internal import GRDB
internal import StorageCore
internal import StorageEntities
internal import StorageHistory
internal import StorageLog
internal import StorageProjections

/// Applies a schema to a store.
struct SchemaApplication {
    let schema: Schema
    let engine: StorageEngine
    private static let keyPrefix = SchemaStep.keyPrefix

    /// Changes the store, and returns what was changed. If anything fails, nothing is changed.
    func apply() throws -> SchemaPlan {
        try schema.checkMistakes()
        guard !engine.configuration.isReadOnly else {
            try checkReadOnly()
            return SchemaPlan()
        }
        let plan = try run(keeping: true)
        if let logger = schema.options.logger {
            for step in plan.steps {
                for change in step.changes { logger("\(step.title): \(change)") }
                if step.changes.isEmpty { logger("\(step.title): done") }
            }
        }
        return plan
    }

    /// Returns what ``apply()`` would change: the steps are run and then rolled back.
    func preview() throws -> SchemaPlan {
        try schema.checkMistakes()
        var plan = try run(keeping: false)
        let projections = try engine.readNow { db in
            let connection = try db.connection
            return try ProjectionRegistration.changes(schema.projections, connection)
        }
        plan.steps += projections.map { SchemaPlan.Step(title: "projection \($0.name)", changes: [$0.change]) }
        return plan
    }

    private func run(keeping: Bool) throws -> SchemaPlan {
        var plan = SchemaPlan()
        guard !schema.steps.isEmpty else { return plan }
        do {
            try engine.withWriterNow { writer, db in
                // GRDB keeps what it found of the schema when a write is undone.
                db.clearSchemaCache()
                let done = try doneSteps(writer)
                let pending = schema.steps.filter { step in step.once.map { !done.contains($0) } ?? true }
                // Otherwise recreating a table would delete the rows that refer to it.
                let isMigrating = pending.contains { $0.once != nil }
                try writer.with(settings: isMigrating ? [("foreign_keys", "0")] : []) {
                    try writer.group(db) {
                        let before = isMigrating ? try missingParents(db) : []
                        var awaited = AwaitedColumns()
                        for step in pending {
                            try run(step, with: writer, in: db, awaiting: &awaited, adding: &plan)
                        }
                        try awaited.check(writer.catalog)
                        if isMigrating {
                            try checkParents(db, besides: before)
                            try checkReferences(db)
                        }
                        if !keeping { throw Undo() }
                    }
                }
            }
        } catch is Undo {}
        return plan
    }

    /// Ends a preview.
    private struct Undo: Error {}

    private func run(
        _ step: Schema.Step, with writer: LogWriter, in db: GRDB.Database, awaiting: inout AwaitedColumns,
        adding plan: inout SchemaPlan
    ) throws {
        let before = writer.catalog
        let tables = try tablesOfNoEntity(db, before)
        let indexes = try FullTextIndex.load(writer.database)
        let projections = try ProjectionRegistration.stored(writer.database)
        let events = writer.pendingEvents
        let metadata = CommitMetadata(
            app: "StorageKit", reason: step.title, idempotencyKey: step.once.map { Self.keyPrefix + $0 })
        do {
            _ = try writer.commit(metadata) {
                try step.run(WriteTransaction(writer: writer, database: db), &awaiting)
            }
        } catch {
            throw Self.explained(error, step)
        }
        // GRDB doesn't see what the engine's own statements do to the schema, and would answer `tableExists` from before.
        db.clearSchemaCache()
        var changes = SchemaPlan.changes(from: before, to: writer.catalog)
        let tablesAfter = try tablesOfNoEntity(db, writer.catalog)
        changes += tables.subtracting(tablesAfter).sorted().map { "drop table \"\($0)\"" }
        changes += tablesAfter.subtracting(tables).sorted().map { "create table \"\($0)\"" }
        changes += writer.pendingChanges(after: events).map { "write \"\($0.entity)\": \($0.events) events" }
        let after = try FullTextIndex.load(writer.database)
        changes += indexes.filter { !after.contains($0) }.map { "drop full-text index of \($0.summary(before))" }
        changes += after.filter { !indexes.contains($0) }.map {
            "make full-text index of \($0.summary(writer.catalog))"
        }
        let gone = projections.subtracting(try ProjectionRegistration.stored(writer.database))
        changes += gone.sorted().map { "drop projection \($0)" }
        guard step.once != nil || !changes.isEmpty else { return }
        plan.steps.append(SchemaPlan.Step(title: step.title, changes: changes))
    }

    /// Returns the tables that are created with SQL: caches, and tables that migrations create for themselves.
    private func tablesOfNoEntity(_ db: GRDB.Database, _ catalog: Catalog) throws -> Set<String> {
        let all = try String.fetchSet(
            db,
            sql: """
                SELECT name FROM sqlite_schema
                WHERE type = 'table' AND name NOT LIKE 'storage\\_%' ESCAPE '\\' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                """)
        return all.subtracting(catalog.entities.filter { !$0.isDropped }.map(\.stored))
    }

    private static func explained(_ error: any Error, _ step: Schema.Step) -> any Error {
        let error = StorageError.wrapping(error)
        let known = error as? StorageError
        // Errors of the schema's own calls already explain themselves; so do errors of the file.
        let isExplained = [
            .schemaMismatch, .invalidArgument, .invalidName, .ioError, .corrupt, .limitExceeded, .migrationFailed,
        ]
        .contains(known?.code)
        if isExplained { return error }
        let isEarly = known?.message.contains("no such table") ?? false
        // `SELECT *` of an entity's table has one column more than were declared.
        let isUnnamed = known?.message.contains("values were supplied") ?? false
        return StorageError(
            .migrationFailed, "\(step.title) failed: \(known?.message ?? "\(error)")",
            remedy: isEarly
                ? "Steps run in the order in which they are declared: declare the autoSchema that creates the table before this step."
                : isUnnamed
                    ? "The tables of entities have a column _position after the declared ones: name the columns to copy instead of *."
                    : "Nothing was changed. Correct the step, then open the store again.",
            cause: error)
    }

    /// A foreign key that refers to no table. SQLite refuses every insert into its own table.
    private struct MissingParent: Hashable {
        let table: String
        let column: String
        let parent: String
    }

    private func missingParents(_ db: GRDB.Database) throws -> Set<MissingParent> {
        let rows = try GRDB.Row.fetchAll(
            db,
            sql: """
                SELECT m.name, k."from", k."table" FROM sqlite_schema AS m, temp.pragma_foreign_key_list(m.name) AS k
                WHERE m.type = 'table' AND NOT EXISTS (
                    SELECT 1 FROM sqlite_schema AS p WHERE p.type = 'table' AND p.name = k."table" COLLATE NOCASE)
                """)
        return Set(rows.map { MissingParent(table: $0[0], column: $0[1], parent: $0[2]) })
    }

    private func checkParents(_ db: GRDB.Database, besides before: Set<MissingParent>) throws {
        let lost = try missingParents(db).subtracting(before)
        guard let key = lost.min(by: { ($0.table, $0.column) < ($1.table, $1.column) }) else { return }
        throw StorageError(
            .schemaMismatch,
            "After the migrations \"\(key.table)\".\"\(key.column)\" refers to \"\(key.parent)\", and there is no such table.",
            remedy:
                "Call dropColumn(\"\(key.column)\", from: \"\(key.table)\") or dropEntity(\"\(key.table)\"), or recreate \"\(key.table)\" without the foreign key in a migration."
        )
    }

    private func checkReferences(_ db: GRDB.Database) throws {
        guard let broken = try GRDB.Row.fetchOne(db, sql: "PRAGMA foreign_key_check") else { return }
        let table: String = broken["table"]
        let parent: String = broken["parent"]
        throw StorageError(
            .migrationFailed,
            "After the migrations a row of \"\(table)\" refers to a row of \"\(parent)\" that isn't there.",
            remedy: "Foreign keys don't act while migrations run: let the migration delete or change such rows.")
    }

    /// Returns the names of the steps that the store has applied.
    ///
    /// - Throws: `newer-schema` if this program doesn't know one of them.
    private func doneSteps(_ writer: LogWriter) throws -> Set<String> {
        let select = try writer.statement(
            "SELECT substr(key, length(?1) + 1) FROM storage_commit_key WHERE substr(key, 1, length(?1)) = ?1")
        select.bind(text: Self.keyPrefix, at: 1)
        var done: Set<String> = []
        defer { select.reset() }
        while try select.step() { done.insert(try select.row.text(at: 0)) }
        let known = Set(schema.steps.compactMap(\.once)).union(schema.retired)
        // A program that declares no entities and no changes has no schema version that could be older.
        guard !schema.definitions.isEmpty || !known.isEmpty else { return done }
        if let foreign = done.subtracting(known).min() {
            throw StorageError(
                .newerSchema, "The store has applied \"\(foreign)\", which this program doesn't declare.",
                remedy:
                    "A newer version of the program has opened it: use that version, or open the store read-only. If the step was removed on purpose, name it in retire(…)."
            )
        }
        return done
    }

    /// Checks a store that is open for reading only, where nothing can be created: everything declared must exist.
    private func checkReadOnly() throws {
        let catalog = try engine.readNow { db in try Catalog.load(db.connection) }
        for definition in schema.definitions { try definition.check(against: catalog) }
    }
}
