internal import CSQLite
package import GRDB
internal import StorageCore

/// What the writer knows of the write guard.
struct WriteGuardState {
    var isOn = false
    /// The schema at which the triggers were as they should be.
    var keptVersion: Int64 = -1
    /// False while what triggers did is written as well.
    var runsTriggers = true
}

extension LogWriter {
    /// Turns the write guard on or off, and makes or removes its triggers.
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

    /// Before a transaction ends: tables that were made in it get their triggers.
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

    /// Before a commit: other steps of the engine switch triggers on when they are done.
    func setTriggers() {
        if !writeGuard.runsTriggers { database.setTriggersEnabled(false) }
    }

    /// Runs groups in which no triggers run, because what they did is written as well.
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
    /// Turns the write guard on or off. In a store that has it already, missing triggers are made again.
    package func setWriteGuard(_ isOn: Bool) async throws {
        try await withWriter { writer, db in try writer.setWriteGuard(isOn, in: db) }
    }
}
