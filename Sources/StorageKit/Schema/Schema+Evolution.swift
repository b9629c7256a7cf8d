public import StorageCore
internal import StorageEntities
internal import StorageHistory
public import StorageLog
internal import StorageMaintenance

/// Changes that a store can't infer. Each is made once in the life of a store, and does nothing in a new one. Declare them before the `autoSchema` of
/// the entity as it is now.
///
/// A store may skip versions: a column that it doesn't have yet is added by `autoSchema` as it is declared now. If no step adds it, the store is
/// refused, because the change names a column that never was.
///
/// The store records a change as done by a name made of its arguments, such as `drop users.nick`. The same change at another time, as of a column
/// that was added again after it had been dropped, needs an `id` as a name of its own:
///
/// ```swift
/// schema.dropColumn("nick", from: "users")
/// schema.dropColumn("nick", from: "users", id: "2026-05-01_nick")
/// ```
extension Schema {
    /// Renames a column, which keeps its history.
    ///
    /// ```swift
    /// schema.renameColumn("mail", to: "email", in: "users")
    /// ```
    ///
    /// - Parameter id: The name under which the store records the change; needed only if an equal change is already declared.
    public mutating func renameColumn(_ column: String, to name: String, in table: String, id: String? = nil) {
        let title = "rename \(table).\(column) to \(name)"
        addStep(title, once: id ?? title) { tx, awaited in
            try tx.writer.renameColumn(column, to: name, in: table, awaiting: &awaited)
        }
    }

    /// Begins the history of a table that was created with SQL: each of its rows becomes an event, and so does every later
    /// change. Does nothing if its history has already begun, even if the table was renamed or dropped since: so keep it declared
    /// in a version that does so. Another table that is created under the same name gets a history of its own.
    ///
    /// ```swift
    /// schema.migration("2026-02-01_places") { db in
    ///     try db.execute(sql: "CREATE TABLE places(id INTEGER PRIMARY KEY, name VARCHAR(80) NOT NULL)")
    /// }
    /// schema.adopt("places")
    /// schema.autoSchema(PlaceRecord.self)
    /// ```
    ///
    /// The table keeps its constraints, indexes and triggers, and gets a column `_position`. It needs a rowid and a primary key
    /// that is NULL in no row: a table `WITHOUT ROWID`, a virtual table, or one with generated columns is refused.
    ///
    /// All rows are part of one commit, which is in memory until it is written: opening the store throws `limit-exceeded` for more
    /// than 16,777,216 rows or 512 MiB of texts and blobs. `storagekit adopt` takes several commits for a large database, but only
    /// for one that isn't a store yet.
    public mutating func adopt(_ table: String) {
        addStep("adopt \(table)") { try $0.writer.adopt([table]) }
    }

    /// Renames an entity's table, which keeps its rows and their history.
    ///
    /// ```swift
    /// schema.renameEntity("persons", to: "users")
    /// schema.autoSchema(UserRecord.self)
    /// ```
    ///
    /// - Parameter id: The name under which the store records the change; needed only if an equal change is already declared.
    public mutating func renameEntity(_ table: String, to name: String, id: String? = nil) {
        let title = "rename \(table) to \(name)"
        addStep(title, once: id ?? title) { tx, _ in try tx.writer.renameEntity(table, to: name) }
    }

    /// Drops a column. The log keeps its values.
    ///
    /// - Parameter id: The name under which the store records the change; needed only if an equal change is already declared.
    public mutating func dropColumn(_ column: String, from table: String, id: String? = nil) {
        let title = "drop \(table).\(column)"
        addStep(title, once: id ?? title) { tx, awaited in
            try tx.writer.dropColumn(column, from: table, awaiting: &awaited)
        }
    }

    /// Drops an entity's table. The log keeps its rows, and gets a delete event for each. The call is refused if, after all
    /// changes, another table still has a foreign key to this one.
    ///
    /// ```swift
    /// schema.dropEntity("drafts")
    /// ```
    ///
    /// - Parameter id: The name under which the store records the change; needed only if an equal change is already declared.
    public mutating func dropEntity(_ table: String, id: String? = nil) {
        let title = "drop \(table)"
        addStep(title, once: id ?? title) { tx, _ in try tx.writer.dropEntity(table) }
    }

    /// Changes a column's type, and converts each row's value with `convert`. Earlier history keeps its original values; the
    /// converted values are update events. ``Storage/asOf(_:schema:)`` also uses `convert` for earlier values, so keep it
    /// declared.
    ///
    /// The column keeps its foreign key. A foreign key that doesn't suit the new type is refused, such as one that sets a
    /// required column to NULL.
    ///
    /// ```swift
    /// schema.convertColumn("age", of: "users", to: Int.self) { old in
    ///     guard case .text(let text) = old, let age = Int64(text) else { return .integer(0) }
    ///     return .integer(age)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - type: The property's new type; an optional type makes the column nullable.
    ///   - id: The name under which the store records the change; needed if an equal change is already declared. A conversion
    ///     that keeps the SQL type, such as from euros to cents, needs one too: without it, a column that already has the type
    ///     counts as converted.
    ///   - convert: Returns the new value for an old one. If it throws, or returns a value that isn't of the type, the
    ///     migration ends and the store stays unchanged.
    public mutating func convertColumn<Value: StorageColumnValue>(
        _ column: String, of table: String, to type: Value.Type, id: String? = nil,
        _ convert: @escaping @Sendable (StorageValue) throws -> StorageValue
    ) {
        let title = "convert \(table).\(column) to \(Value.columnType)\(Value.isNullable ? "" : " NOT NULL")"
        let name = id ?? title
        // The table would convert what doesn't fit its column, and a value of the past wouldn't.
        let checked: Upcast = { old in try Value(storageValue: convert(old))._storable() }
        // What an earlier version has let the table convert stays readable as the closure returns it.
        upcasts[name] = { old in
            let new = try convert(old)
            return (try? Value(storageValue: new).storageValue) ?? new
        }
        addStep(title, once: name) { tx, awaited in
            try tx.writer.convertColumn(
                column, of: table, to: ColumnSchema(column, type), title: name, keepsType: id != nil,
                awaiting: &awaited, checked)
        }
    }
}
