internal import Foundation
package import GRDB
internal import StorageCore
package import StorageLog

extension UserProjections {
    /// Takes up a projection that the program declares: makes its tables where they aren't there or are of another
    /// version.
    ///
    /// Runs a transaction of its own.
    func register(_ registration: ProjectionRegistration, on writer: LogWriter, _ db: GRDB.Database) throws {
        database = db
        let slot = Slot(registration)
        try writer.group(db) {
            let known = try StoredProjection.all(in: writer.database).first { $0.name == slot.name }
            let isSame =
                known?.version == registration.projection.version
                && known?.tables.entities == registration.projection.entities
            if isSame, let known {
                if known.kind != registration.mode.rawValue { try remember(slot, tables: known.tables, on: writer) }
            } else {
                try recreate(slot, on: writer)
            }
        }
        slot.hasDeadLetters = try deadLetterCount(slot.name, writer) > 0
        slots.removeAll { $0.name == slot.name }
        slots.append(slot)
    }

    /// Drops the projection's tables and creates empty ones; history up to its old position counts as replayed from
    /// then on.
    func recreate(_ slot: Slot, on writer: LogWriter) throws {
        let db = try connection()
        var checkpoint = Checkpoint()
        if let before = try Checkpoint.load(slot.name, writer.database) {
            checkpoint.replayed = max(before.replayed, before.position)
        } else {
            checkpoint.replayed = writer.head.position
        }
        try forget(slot.name, on: writer, db)
        let tables: ProjectionTables
        do {
            tables = try ProjectionTables.make(slot.projection, on: writer, db)
        } catch {
            let error = StorageError.wrapping(error)
            throw StorageError(
                .projectionFailed,
                "The projection \(slot.name) can't make its tables: \((error as? StorageError)?.message ?? "\(error)")",
                remedy: "Correct its prepare; nothing was changed.", cause: error)
        }
        try remember(slot, tables: tables, on: writer)
        try checkpoint.save(slot.name, writer)
        // `hasDeadLetters` stays: if the transaction is rolled back, they exist again.
        slot.cache = nil
    }

    func remember(_ slot: Slot, tables: ProjectionTables, on writer: LogWriter) throws {
        let insert = try writer.statement(
            """
            INSERT INTO storage_projection(name, kind, version, definition) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT(name) DO UPDATE SET kind = ?2, version = ?3, definition = ?4
            """)
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        insert.bind(text: slot.name, at: 1)
        insert.bind(text: slot.registration.mode.rawValue, at: 2)
        insert.bind(Int64(slot.projection.version), at: 3)
        insert.bind(text: String(decoding: try encoder.encode(tables), as: UTF8.self), at: 4)
        try writer.asEngine { try insert.execute() }
    }

    /// Removes a projection with its tables and records from the store. Part of the current transaction.
    package func forget(_ name: String, on writer: LogWriter, _ db: GRDB.Database) throws {
        if let known = try StoredProjection.all(in: writer.database).first(where: { $0.name == name }) {
            try known.tables.drop(on: writer, db)
        }
        let deletes = [
            "DELETE FROM storage_projection WHERE name = ?1 AND kind <> 'full-text'",
            "DELETE FROM storage_checkpoint WHERE projection = ?1",
            "DELETE FROM storage_dead_letter WHERE projection = ?1",
        ]
        for sql in deletes {
            let delete = try writer.statement(sql)
            delete.bind(text: name, at: 1)
            try writer.asEngine { try delete.execute() }
        }
    }

    /// Rebuilds a projection from the log, in the current transaction, up to its previous position. It applies later
    /// events afterwards, as it would have without this.
    ///
    /// - Parameter fill: Fills the new tables from an earlier fold, and returns the position that they reflect; nil to
    ///   start at the beginning.
    /// - Throws: ``ProjectionBatchError`` if the projection throws and its policy for history is to pause.
    package func rebuild(_ slot: Slot, on writer: LogWriter, from fill: (() throws -> Int64)? = nil) throws {
        let reached = try Checkpoint.load(slot.name, writer.database)?.position ?? 0
        defer { slot.cache = nil }
        try recreate(slot, on: writer)
        if let fill, var checkpoint = try Checkpoint.load(slot.name, writer.database) {
            checkpoint.position = try writer.asProjection(fill)
            try checkpoint.save(slot.name, writer)
        }
        _ = try catchUp(slot, through: reached, on: writer) { step in try writer.inSavepoint(step) }
    }

    /// Empties a projection, which catches up from the beginning then.
    func reset(_ slot: Slot, on writer: LogWriter, _ db: GRDB.Database) throws {
        try writer.group(db) { try recreate(slot, on: writer) }
    }
}
