internal import CSQLite
package import GRDB
internal import StorageCore

/// The writer's state of the write guard.
struct WriteGuardState {
    var isOn = false
    /// The schema version at which the triggers were complete.
    var keptVersion: Int64 = -1
    /// False while the effects of triggers are written explicitly.
    var runsTriggers = true
}

extension LogWriter {
    /// Turns the write guard on or off, and creates or removes its triggers.
    package func setWriteGuard(_ isOn: Bool, in db: GRDB.Database) throws {
        let before = writeGuard
        (writeGuard.isOn, writeGuard.keptVersion) = (isOn, -1)
        do {
            try maintenance(db) { try WriteGuard.set(isOn, database) }
        } catch {
            writeGuard = before
            throw error
        }
        db.clearSchemaCache()
    }

    /// Creates, before a transaction ends, the triggers of tables that it has created.
    ///
    /// - Returns: Whether the schema was changed.
    func keepWriteGuard() throws -> Bool {
        let version = try schemaVersion().version
        guard version != writeGuard.keptVersion else { return false }
        let hasChanged = try asEngine { try WriteGuard.install(catalog, database) }
        storage_capture_take_schema_suspicion(capture)
        writeGuard.keptVersion = try schemaVersion().version
        return hasChanged
    }

    /// Switches triggers off before a commit if they shouldn't run: other steps of the engine switch them on when they are done.
    func setTriggers() {
        if !writeGuard.runsTriggers { database.setTriggersEnabled(false) }
    }

    /// Runs groups without triggers, because their effects are written explicitly.
    package func withoutTriggers<Result>(_ body: () throws -> Result) rethrows -> Result {
        writeGuard.runsTriggers = false
        defer {
            writeGuard.runsTriggers = true
            database.setTriggersEnabled(true)
        }
        return try body()
    }
}

extension StorageEngine {
    /// Turns the write guard on or off. If it is on already, missing triggers are recreated.
    package func setWriteGuard(_ isOn: Bool) async throws {
        try await withWriter { writer, db in try writer.setWriteGuard(isOn, in: db) }
    }
}
