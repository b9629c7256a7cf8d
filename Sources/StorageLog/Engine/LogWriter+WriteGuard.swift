internal import CSQLite
package import GRDB
internal import StorageCore

/// Whether triggers run on the writer's connection.
package enum TriggerUse: Sendable {
    /// Where there are others than those of the write guard.
    case asNeeded
    /// Also where a commit makes the first one, and changes rows after that.
    case always
    /// Where what they did is written as well.
    case never
}

/// What the writer knows of the write guard.
struct WriteGuardState {
    var isOn = false
    /// The schema at which the triggers were as they should be.
    var keptVersion: Int64 = -1
    var triggers = TriggerUse.asNeeded
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

    /// Before a commit: triggers run where there are others than the guard's. The log's own triggers aren't needed on this
    /// connection, because capture refuses what they refuse.
    ///
    /// They can't be turned on while a statement runs, which SQLite would end. So a commit that makes the first trigger and
    /// then changes rows is refused.
    func setTriggers() {
        let runs =
            switch writeGuard.triggers {
            case .always: true
            case .never: false
            case .asNeeded: !writeGuard.isOn || schema.introspected?.hasForeignTriggers ?? true
            }
        storage_capture_set_triggers(capture, runs ? 1 : 0)
    }

    /// Runs groups in which triggers run otherwise than usual.
    package func with<Result>(triggers: TriggerUse, _ body: () throws -> Result) rethrows -> Result {
        writeGuard.triggers = triggers
        defer {
            writeGuard.triggers = .asNeeded
            setTriggers()
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
