internal import CSQLite
internal import StorageCore

/// What the writer knows of its connection as it set it up, to notice what a body did to it.
struct GuardedState {
    /// How often the statement that is run at the end of each commit has been prepared again. SQLite prepares every
    /// statement again after a change of a setting, a function, a collation or the temporary schema.
    var preparations: Int32 = -1
    var isSuspect = false
    /// Whether statements may have run that the engine's trace didn't see, since the settings were looked at.
    var isUnwatched = true
    /// The settings of the connection.
    var settings: [(name: String, value: String)] = []
    /// What of the schema belongs to the engine, by name.
    var ownObjects: [String: String] = [:]
}

/// The guard of the writer connection. Users hold it inside a write and may do with it what GRDB and SQLite allow, so the end
/// of each commit looks at what would outlast it: settings, functions, temporary objects that hide entities, and the
/// schema of the engine's own tables. What can't stay is undone and refused with the commit.
///
/// The rest of the guard is in `CSQLite`: the bar between transactions, the savepoint around a commit, and writes to the
/// engine's tables. GRDB keeps SQLite's one authorizer slot, so nothing here depends on an authorizer.
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

    /// Before a commit is finished.
    ///
    /// - Throws: `invalid-argument` where its body changed the connection.
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

    /// Before a transaction begins: closures that GRDB ran behind the last one can't write, but they have the connection.
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

    /// Whether those of the settings may be others that SQLite prepares no statement again for.
    private var mayHaveOtherSettings: Bool { guarded.isUnwatched || storage_capture_set_pragma(capture) != 0 }

    /// Runs `body` with other settings of the connection, between transactions.
    package func with<Result>(settings: [(name: String, value: String)], _ body: () throws -> Result) throws -> Result {
        let usual = guarded.settings
        defer {
            guarded.settings = usual
            guarded.isSuspect = true
            // Fails only where the connection is lost, and then nothing follows.
            try? reclaimConnection()
        }
        for (name, value) in settings {
            try PreparedStatement(database, "PRAGMA \(name) = \(value)").execute()
            guarded.settings = guarded.settings.map { $0.name == name ? (name, value) : $0 }
        }
        try acceptConnection()
        return try body()
    }

    /// After a commit was undone: what its body did to the connection isn't undone by a savepoint.
    func restoreConnection() throws {
        _ = try schemaVersion()
        guard guarded.isSuspect else { return }
        _ = try restoreSettings()
        try dropTemporaryObjects()
        guarded.isSuspect = false
    }

    /// What the engine itself has just done to the connection is no reason to look at it.
    func acceptConnection() throws {
        let wasSuspect = guarded.isSuspect
        _ = try schemaVersion()
        guarded.isSuspect = wasSuspect
    }
}

// MARK: Settings

extension LogWriter {
    /// Those that change what statements of the engine mean, or keep others from the file. `defer_foreign_keys` is for the
    /// body to use, and ends with it.
    private static let settings = [
        "query_only", "ignore_check_constraints", "recursive_triggers", "reverse_unordered_selects", "foreign_keys",
        "legacy_alter_table", "writable_schema", "full_column_names", "short_column_names", "count_changes",
        "empty_result_callbacks", "read_uncommitted", "trusted_schema", "cell_size_check", "automatic_index",
        "secure_delete", "defer_foreign_keys",
    ]
    /// Those that no statement is prepared again for. To read one is to prepare a statement again, so it is done only where
    /// a pragma has set something.
    private static let fileSettings = ["main.application_id", "main.locking_mode", "main.max_page_count"]
    /// Those of them that can be changed between transactions only.
    private static let outerSettings = ["main.synchronous", "main.journal_mode"]

    /// Takes the settings of the connection for those that have to stay.
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

    /// Puts back what was changed.
    ///
    /// - Returns: What that was, nil where there was nothing that the body may not change.
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

    /// Whether the engine's functions are the engine's.
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

    /// Before a group ends: settings that no statement is prepared again for.
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
    /// A temporary table hides the entity of its name from every later write, and a temporary trigger would follow the
    /// engine's own statements.
    private func refusedTemporaryObjects() throws -> [(type: String, name: String, hides: Bool)] {
        let select = try PreparedStatement(database, "SELECT type, name FROM sqlite_temp_schema ORDER BY type DESC")
        var refused: [(type: String, name: String, hides: Bool)] = []
        while try select.step() {
            let (type, name) = (select.string(0), select.string(1))
            let hides =
                type != "index" && (catalog.entity(stored: name) != nil || name.lowercased().hasPrefix("storage_"))
            if hides || type == "trigger" { refused.append((type, name, hides)) }
        }
        return refused
    }

    /// Those that were made where no commit could be refused for them: behind a transaction, in the temporary database, which
    /// has no write-ahead log to be barred from.
    private func dropTemporaryObjects() throws {
        // A table takes its own triggers along, and its parts where it is a virtual one.
        for object in try refusedTemporaryObjects() {
            try PreparedStatement(database, "DROP \(object.type) IF EXISTS temp.\(quoted(object.name))").execute()
        }
        try acceptConnection()
    }

    /// Takes what there is of the engine's own schema for what has to stay.
    func learnOwnObjects() throws {
        guarded.ownObjects = try ownObjects()
        storage_capture_take_body_changed_schema(capture)
    }

    /// - Throws: `invalid-argument` where the body of a commit changed the engine's own schema.
    func checkOwnObjects() throws {
        let objects = try ownObjects()
        let byBody = storage_capture_take_body_changed_schema(capture) != 0
        guard objects != guarded.ownObjects else { return }
        guard byBody else {
            guarded.ownObjects = objects
            return
        }
        let names = Set(objects.keys).union(guarded.ownObjects.keys)
        throw StorageError.reservedTable(names.sorted().first { objects[$0] != guarded.ownObjects[$0] })
    }

    /// Everything that is named like the engine's, or belongs to a table that is.
    private func ownObjects() throws -> [String: String] {
        let select = try PreparedStatement(
            database,
            """
            SELECT name, coalesce(sql, ''), type, tbl_name FROM sqlite_schema
            WHERE name LIKE 'storage\\_%' ESCAPE '\\' OR tbl_name LIKE 'storage\\_%' ESCAPE '\\'
            """)
        var objects: [String: String] = [:]
        while try select.step() {
            let (name, sql) = (select.string(0), select.string(1))
            // Those come and go with their tables, and are made again where they are missing.
            if select.string(2) == "trigger", WriteGuard.owns(trigger: name, on: select.string(3), sql: sql) {
                continue
            }
            objects[name] = sql
        }
        return objects
    }
}

extension StorageError {
    fileprivate static func changedSetting(_ name: String) -> StorageError {
        StorageError(
            .invalidArgument, "A write changes the setting \(name) of the store.",
            remedy: "Leave it as it is: the store, or other processes, could not use the file otherwise.")
    }
}
