public import GRDB
internal import StorageCore
internal import StorageEntities
internal import StorageLog

extension Schema {
    /// Runs `body` once in the life of a store. What it changes in entity tables is captured like any other change.
    ///
    /// ```swift
    /// schema.migration("2026-01-25_unique_email") { db in
    ///     try db.create(index: "users_email", on: "users", columns: ["email"], unique: true)
    /// }
    /// ```
    ///
    /// While migrations run, foreign keys aren't enforced and cascades don't fire; the keys are checked before the transaction
    /// ends. An entity's table may be recreated (`CREATE TABLE posts_new …`, copy, drop, rename): its rows are compared with
    /// the log, and every difference becomes an event. Copy columns by name, because the old table has a column `_position`
    /// that the new one may lack.
    ///
    /// - Parameters:
    ///   - id: The migration's name, under which the store records it; a date prefix keeps names unique.
    ///   - table: A table whose existence means that the migration has already been done.
    public mutating func migration(
        _ id: String, skipIfTableExists table: String? = nil, body: @escaping @Sendable (Database) throws -> Void
    ) {
        addStep("migration \(id)", once: id) { tx, _ in
            if let table, try tx.database.tableExists(table) { return }
            try body(tx.database)
            try RecreatedTableReconciliation(tx.writer).reconcile()
        }
    }
}
