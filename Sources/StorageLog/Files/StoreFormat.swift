internal import StorageCore

/// Checks whether a file is a store in a format that this version supports, and which features it needs.
package enum StoreFormat {
    /// Whether the file is marked as a store, in any format.
    package static func isStore(_ connection: Connection) throws -> Bool {
        let identity = try PreparedStatement(connection, "PRAGMA application_id")
        return try identity.step() && identity.integer(0) == StoreSchema.applicationId
    }

    /// Whether the file has the tables of a store without the mark of one.
    static func hasLostMark(_ connection: Connection) throws -> Bool {
        let select = try PreparedStatement(
            connection,
            "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('storage_meta', 'storage_log')")
        return try !isStore(connection) && select.step() && select.integer(0) == 2
    }

    static func isEmpty(_ connection: Connection) throws -> Bool {
        let select = try PreparedStatement(connection, "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema)")
        return try select.step() && select.integer(0) == 1
    }

    /// - Throws: `not-a-store` or `unsupported-format`; `corrupt` if one of the engine's tables is missing.
    static func check(_ connection: Connection, forWriting: Bool = false) throws {
        guard try isStore(connection) else {
            throw StorageError(
                .notAStore, "The file is an SQLite database, but not a StorageKit store.",
                remedy: "Check the name; storagekit adopt converts another program's database.")
        }
        // Another kind of object with this name, such as a view, could return rows endlessly.
        let table = try PreparedStatement(connection, "SELECT type FROM sqlite_schema WHERE name = 'storage_meta'")
        guard try table.step(), table.string(0) == "table" else {
            throw StorageError.corruptLog("it has no table storage_meta")
        }
        let select = try PreparedStatement(connection, "SELECT format FROM storage_meta")
        let format = try select.step() ? select.integer(0) : 0
        guard format == StoreSchema.formatVersion else {
            throw StorageError(
                .unsupportedFormat,
                "The store has format \(format); this version knows format \(StoreSchema.formatVersion) only.",
                remedy: "Open it with the version of StorageKit that wrote it, or a newer one.")
        }
        try checkFeatures(connection, forWriting: forWriting)
        try checkTables(connection)
    }

    /// The tables without which nothing can be read. Before a write, ``checkObjects(_:)`` looks for all, and `verify` reports them.
    private static let needed = ["storage_log", "storage_lineage", "storage_catalog", "storage_tombstone"]

    /// Checks that the tables exist, so that no statement fails later as if the user's SQL was wrong.
    private static func checkTables(_ connection: Connection) throws {
        let select = try PreparedStatement(
            connection, "SELECT name FROM sqlite_schema WHERE type = 'table' AND name GLOB 'storage_*'")
        var found: Set<String> = []
        while try select.step() { found.insert(select.string(0)) }
        guard let missing = needed.first(where: { !found.contains($0) }) else { return }
        throw StorageError(
            .corrupt, "The store is damaged: it has no table \(missing).",
            remedy: "Restore a backup: storagekit restore BACKUP -o NEW")
    }

    /// Checks the bits in which a newer version records the features that a store uses: this version knows the write guard.
    /// Unknown compatible features can be ignored.
    private static func checkFeatures(_ connection: Connection, forWriting: Bool) throws {
        let select: PreparedStatement
        do {
            select = try PreparedStatement(
                connection, "SELECT incompatible, read_only_compatible, first_position FROM storage_meta")
        } catch let error as StorageError where error.code == .database {
            throw StorageError.corruptLog("storage_meta isn't what StorageKit made", cause: error)
        }
        guard try select.step() else { return }
        guard select.integer(0) == 0 else {
            throw StorageError(
                .unsupportedFormat,
                "The store uses features that this version of StorageKit doesn't know (incompatible \(select.integer(0))).",
                remedy: "Open it with a newer version.")
        }
        guard select.integer(1) & ~StoreSchema.writeGuardBit == 0 || !forWriting else {
            throw StorageError(
                .unsupportedFormat,
                "The store uses features that this version of StorageKit can't write (read_only_compatible \(select.integer(1))).",
                remedy: "Open it for reading only, or with a newer version.")
        }
        // A log that begins at another position has a baseline, which is an incompatible feature.
        guard select.integer(2) == 1 else {
            throw StorageError.corruptLog("its first position is \(select.integer(2))")
        }
    }

    /// Checks before any write that the engine's tables are as it created them, with its triggers and no others, which would
    /// change tables without events.
    ///
    /// - Throws: `corrupt`, naming the object that differs.
    static func checkObjects(_ connection: Connection) throws {
        var expected = Dictionary(uniqueKeysWithValues: StoreSchema.objects.map { ($0.name, $0.sql) })
        let own = Set(expected.keys)
        let select = try PreparedStatement(
            connection, "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql IS NOT NULL")
        while try select.step() {
            let (type, name, table) = (select.string(0), select.string(1), select.string(2))
            if let sql = expected.removeValue(forKey: name), sql == select.string(3) { continue }
            if own.contains(name) { throw StorageError.foreignObject("\(name) isn't what StorageKit made") }
            guard type == "trigger" || type == "index", own.contains(table) else { continue }
            throw StorageError.foreignObject("it has a \(type) \"\(name)\" on \(table) that isn't StorageKit's")
        }
        // A missing guard lets others write to the log, but doesn't prevent our own writes; verify reports it.
        let missing = StoreSchema.objects.first { expected[$0.name] != nil && !$0.sql.hasPrefix("CREATE TRIGGER") }
        if let missing = missing?.name { throw StorageError.foreignObject("\(missing) is missing") }
        let epoch = try PreparedStatement(
            connection,
            "SELECT typeof(writer_epoch) = 'integer' AND writer_epoch BETWEEN 0 AND 1 << 62 FROM storage_meta")
        guard try epoch.step(), epoch.integer(0) == 1 else {
            throw StorageError.foreignObject("the writer_epoch of storage_meta isn't a number that can rise")
        }
    }
}

extension StorageError {
    /// An error for a change of the engine's tables by another program.
    fileprivate static func foreignObject(_ problem: String) -> StorageError {
        StorageError(
            .corrupt, "The store can't be written to: \(problem). Another program has changed it.",
            remedy:
                "Undo that change with the program that made it, or restore a backup. storagekit verify lists all differences."
        )
    }
}
