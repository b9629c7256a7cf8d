internal import CSQLite
internal import StorageCore

/// The state of the writer's connection after setup, to detect changes by a body.
struct GuardedState {
    /// How often the statement that runs at the end of each commit was prepared again. SQLite does that for every statement after
    /// a change of a setting, a function, a collation or the temporary schema.
    var preparations: Int32 = -1
    /// The same for the statement that runs at the beginning of each transaction.
    var firstPreparations: Int32 = -1
    var isSuspect = false
    /// Whether statements may have run unseen by the engine's trace since the settings were last checked.
    var isUnwatched = true
    /// The settings of the connection.
    var settings: [(name: String, value: String)] = []
    /// The engine's own part of the schema, by name.
    var ownObjects: [String: String] = [:]
    /// The tables and views that hide those that SQLite has built in, by name.
    var hidingBuiltIn: Set<String> = []
}

/// The guard of the writer connection. Users get it inside a write and may do with it what GRDB and SQLite allow, so the end of
/// each commit checks what would outlast it: settings, functions, temporary objects that hide entities, and the schema of the
/// engine's own tables. A forbidden change is undone and fails the commit.
///
/// The rest of the guard is in `CSQLite`: it bars writes between transactions, protects the savepoint around a commit, and
/// refuses writes to the engine's tables. GRDB uses SQLite's only authorizer slot, so nothing here depends on an authorizer.
extension LogWriter {
    /// SQLite's counter of schema changes, and whether the engine's trace saw the statement that reads it.
    func schemaVersion() throws -> (version: Int64, isTraced: Bool) {
        let select = try statement(.schemaVersion)
        let statements = storage_capture_statements(capture)
        defer { select.reset() }
        guard try select.step() else { return (schema.version, true) }
        let preparations = sqlite3_stmt_status(select.pointer, SQLITE_STMTSTATUS_REPREPARE, 0)
        if preparations != guarded.preparations {
            guarded.preparations = preparations
            guarded.isSuspect = true
        }
        if storage_capture_take_parsed_pragma(capture) != 0 { guarded.isSuspect = true }
        let isTraced = storage_capture_statements(capture) > statements
        if !isTraced { guarded.isUnwatched = true }
        return (select.integer(0), isTraced)
    }

    /// Checks the connection before a commit is finished.
    ///
    /// - Throws: `invalid-argument` if the commit's body changed the connection.
    func checkConnection() throws {
        guard guarded.isSuspect else { return }
        if let object = try refusedTemporaryObjects().first {
            throw StorageError(
                .invalidArgument,
                object.hides
                    ? "The temporary \(object.type) \"\(object.name)\" would hide the table of that name from every later write."
                    : "The temporary trigger \"\(object.name)\" would follow every later write.",
                remedy: "Give it another name, or make the trigger part of the schema.")
        }
        let changed = try restoreSettings()
        guarded.isSuspect = false
        guard let changed else { return }
        throw StorageError(
            .invalidArgument,
            "A write changes \(changed) of the writer's connection, which would affect every later write.",
            remedy: "Leave the connection as it is; open one of your own for other settings.")
    }

    /// Restores the connection before a transaction begins: closures that GRDB ran after the last one can't write, but have the
    /// connection.
    func reclaimConnection() throws {
        try restoreConnection()
        _ = checkpoints.takeHook()
        if mayHaveOtherSettings {
            let outer = guarded.settings.suffix(Self.fileSettings.count + Self.outerSettings.count)
            for (name, value) in outer where try setting(name) != value {
                try PreparedStatement(database, "PRAGMA \(name) = \(value)").execute()
            }
        }
        storage_capture_forget_pragmas(capture)
        guarded.isUnwatched = false
    }

    /// Whether settings may have changed for which SQLite prepares no statement again.
    private var mayHaveOtherSettings: Bool { guarded.isUnwatched || storage_capture_set_pragma(capture) != 0 }

    /// Runs `body` with different settings of the connection, between transactions.
    package func with<Result>(settings: [(name: String, value: String)], _ body: () throws -> Result) throws -> Result {
        let usual = guarded.settings
        defer {
            guarded.settings = usual
            guarded.isSuspect = true
            // Fails only if the connection is lost, and then nothing follows.
            try? reclaimConnection()
        }
        for (name, value) in settings {
            try PreparedStatement(database, "PRAGMA \(name) = \(value)").execute()
            guarded.settings = guarded.settings.map { $0.name == name ? (name, value) : $0 }
        }
        try acceptConnection()
        return try body()
    }

    /// Restores the connection after a commit was undone: a savepoint doesn't undo what the body did to it.
    func restoreConnection() throws {
        _ = try schemaVersion()
        guard guarded.isSuspect else { return }
        _ = try restoreSettings()
        try dropTemporaryObjects()
        guarded.isSuspect = false
    }

    /// Accepts the engine's own changes of the connection, which needn't be checked.
    func acceptConnection() throws {
        let wasSuspect = guarded.isSuspect
        _ = try schemaVersion()
        guarded.isSuspect = wasSuspect
    }
}

// MARK: Settings

extension LogWriter {
    /// Settings that change the meaning of the engine's statements, or lock others out of the file. The body may use
    /// `defer_foreign_keys`, which ends with it.
    private static let settings = [
        "query_only", "ignore_check_constraints", "recursive_triggers", "reverse_unordered_selects", "foreign_keys",
        "legacy_alter_table", "writable_schema", "full_column_names", "short_column_names", "count_changes",
        "empty_result_callbacks", "read_uncommitted", "trusted_schema", "cell_size_check", "automatic_index",
        "secure_delete", "defer_foreign_keys",
    ]
    /// Settings whose change prepares no statement again. Reading one prepares a statement again, so they are read only after a
    /// pragma has set something.
    private static let fileSettings = ["main.application_id", "main.locking_mode", "main.max_page_count"]
    /// Settings of that kind that can be changed only between transactions.
    private static let outerSettings = ["main.synchronous", "main.journal_mode"]

    /// Records the connection's current settings as those to keep.
    package func learnSettings() throws {
        guarded.settings = try (Self.settings + Self.outerSettings + Self.fileSettings).map { ($0, try setting($0)) }
        _ = try schemaVersion()
        guarded.isSuspect = false
    }

    private func setting(_ name: String) throws -> String {
        let select = try statement("PRAGMA \(name)")
        defer { select.reset() }
        return try select.step() ? select.string(0) : ""
    }

    /// Restores changed settings and functions.
    ///
    /// - Returns: A description of the first change that the body wasn't allowed to make; nil if there was none.
    private func restoreSettings() throws -> String? {
        var changed: String?
        for (name, value) in guarded.settings.prefix(Self.settings.count) where try setting(name) != value {
            try PreparedStatement(database, "PRAGMA \(name) = \(value)").execute()
            if name != "defer_foreign_keys" { changed = changed ?? "the setting \(name)" }
        }
        if try !likeIgnoresCase() {
            try PreparedStatement(database, "PRAGMA case_sensitive_like = 0").execute()
            changed = changed ?? "the setting case_sensitive_like"
        }
        if try !ownsFunctions() {
            let code = storage_capture_register_functions(capture)
            guard code == SQLITE_OK else { throw database.error(code) }
            changed = changed ?? "a function whose name begins with storage_"
        }
        try acceptConnection()
        return changed
    }

    private func likeIgnoresCase() throws -> Bool {
        let select = try PreparedStatement(database, "SELECT 'a' LIKE 'A'")
        return try select.step() && select.integer(0) == 1
    }

    /// Whether the engine's SQL functions are still its own.
    private func ownsFunctions() throws -> Bool {
        let proof: Int32 = 0x5354_4B54
        storage_capture_set_engine(capture, proof)
        defer { storage_capture_set_engine(capture, role.engine) }
        let select = try PreparedStatement(
            database,
            "SELECT storage_engine(), storage_identical(1, 1), storage_identical(1, 1.0), storage_identical(0.0, -0.0)")
        guard try select.step() else { return false }
        return select.integer(0) == Int64(proof) && select.integer(1) == 1 && select.integer(2) == 0
            && select.integer(3) == 0
    }

    /// Checks, before a group ends, the settings for which no statement is prepared again.
    func checkHeader() throws {
        guard checkpoints.takeHook() else { throw StorageError.changedSetting("wal_autocheckpoint") }
        guard mayHaveOtherSettings else { return }
        for (name, value) in guarded.settings.suffix(Self.fileSettings.count) where try setting(name) != value {
            try PreparedStatement(database, "PRAGMA \(name) = \(value)").execute()
            throw StorageError.changedSetting(name)
        }
    }
}

// MARK: Schema

extension LogWriter {
    /// Temporary objects that outlast their write: a table hides the entity of its name from every later write, and a trigger
    /// would follow the engine's own statements.
    private func refusedTemporaryObjects() throws -> [(type: String, name: String, hides: Bool)] {
        // To read its schema would open it.
        guard sqlite3_db_readonly(database.handle, "temp") >= 0 else { return [] }
        let select = try PreparedStatement(database, "SELECT type, name FROM sqlite_temp_schema ORDER BY type DESC")
        var refused: [(type: String, name: String, hides: Bool)] = []
        while try select.step() {
            let (type, name) = (select.string(0), select.string(1))
            let hides =
                type != "index"
                && (catalog.entity(stored: name) != nil || name.isReservedName || ReservedNames.isBuiltIn(name))
            if hides || type == "trigger" { refused.append((type, name, hides)) }
        }
        return refused
    }

    /// Drops temporary objects that were created where no commit could be refused for them: after a transaction, in the temporary
    /// database, which has no write-ahead log that could be barred.
    private func dropTemporaryObjects() throws {
        // Dropping a table drops its triggers, and dropping a virtual table drops its shadow tables.
        for object in try refusedTemporaryObjects() {
            try PreparedStatement(database, "DROP \(object.type) IF EXISTS temp.\(quoted(object.name))").execute()
        }
        try acceptConnection()
    }

    /// Records the engine's own current schema as the one to keep.
    func learnOwnObjects(_ found: IntrospectedSchema) {
        (guarded.ownObjects, guarded.hidingBuiltIn) = (found.ownObjects, found.hidingBuiltIn)
        storage_capture_take_body_changed_schema(capture)
    }

    /// - Throws: `invalid-argument` if the body of a commit changed the engine's own schema, `invalid-name` if it made a table or view
    ///   that hides one that SQLite has built in. What another program made is left as it is.
    func checkOwnObjects(_ found: IntrospectedSchema) throws {
        let objects = found.ownObjects
        let byBody = storage_capture_take_body_changed_schema(capture) != 0
        if byBody, let name = found.hidingBuiltIn.subtracting(guarded.hidingBuiltIn).min() {
            throw StorageError(
                .invalidName, "A write makes \"\(name)\", a name that SQLite has built in.",
                remedy: ReservedNames.remedy)
        }
        guarded.hidingBuiltIn = found.hidingBuiltIn
        guard objects != guarded.ownObjects else { return }
        guard byBody else {
            guarded.ownObjects = objects
            return
        }
        let names = Set(objects.keys).union(guarded.ownObjects.keys)
        throw StorageError.reservedTable(names.sorted().first { objects[$0] != guarded.ownObjects[$0] })
    }
}

extension StorageError {
    fileprivate static func changedSetting(_ name: String) -> StorageError {
        StorageError(
            .invalidArgument, "A write changes the setting \(name) of the store.",
            remedy: "Leave it as it is: the store, or other processes, could not use the file otherwise.")
    }
}
