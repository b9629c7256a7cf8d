internal import CSQLite
internal import StorageCore

extension LogWriter {
    /// Runs a call's statement so that all of its changes are undone if it throws.
    ///
    /// SQLite undoes a refused statement by itself, except for what it has done before RAISE(FAIL) or ON CONFLICT FAIL.
    package func atomically<Value>(_ body: () throws -> Value) throws -> Value {
        // A trigger that the statement before has created may be one with RAISE(FAIL).
        storage_capture_look_at_schema(capture)
        return try schema.usesFailResolution || temporaryObjectUsesFailResolution() ? inSavepoint(body) : body()
    }

    /// Whether a failed statement may keep its earlier changes because of a temporary object: a trigger, or a table to which one writes.
    private func temporaryObjectUsesFailResolution() throws -> Bool {
        // To read its schema would open it.
        guard sqlite3_db_readonly(database.handle, "temp") >= 0 else { return false }
        let select = try statement("SELECT sql FROM sqlite_temp_schema WHERE sql IS NOT NULL")
        defer { select.reset() }
        while try select.step() {
            if SchemaRow.usesFailResolution(select, at: 0) { return true }
        }
        return false
    }

    /// Runs a part of the current transaction, which is undone if it throws.
    package func inSavepoint<Value>(_ body: () throws -> Value) throws -> Value {
        try statement("SAVEPOINT storage_part").execute()
        do {
            let value = try body()
            try statement("RELEASE storage_part").execute()
            return value
        } catch {
            // The whole transaction is undone if the file has failed, and ``classified(_:)`` reads the result of the connection's last
            // call. SQLite may also have ended it by itself, as RAISE(ROLLBACK) does.
            let known = classified(error)
            let isOfTheStore = (known as? StorageError)?.isStoreFailure ?? false
            guard !isOfTheStore, storage_capture_ended(capture) == 0 else { throw known }
            try statement("ROLLBACK TO storage_part").execute()
            try statement("RELEASE storage_part").execute()
            // What SQLite reports as full needn't be the disk, and afterwards the connection no longer says so.
            throw error is StorageError ? known : error
        }
    }
}
