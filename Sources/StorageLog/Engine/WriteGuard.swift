internal import CSQLite
internal import StorageCore

/// The write guard: triggers on entity tables that refuse writes of other programs.
///
/// A trigger calls a function that only the engine's writer connection has, so a statement of another program fails when
/// it is prepared. SQLite's message names the missing function, and that name says why.
///
/// - The setting is a bit of `storage_meta`. A version that doesn't know it reads the store and doesn't write.
/// - The triggers aren't part of an entity's definition: code that creates tables from the catalog doesn't create them. They are
///   maintained at the end of each transaction that changes the schema (`LogWriter.keepWriteGuard`).
/// - A table with a trigger costs each statement a journal of its own; the decision has the figures.
package enum WriteGuard {
    private static let bit = StoreSchema.writeGuardBit

    package static func isOn(_ connection: Connection) throws -> Bool {
        let select = try PreparedStatement(connection, "SELECT read_only_compatible & \(bit) FROM storage_meta")
        return try select.step() && select.integer(0) != 0
    }

    static func set(_ isOn: Bool, _ connection: Connection) throws {
        let value = isOn ? "read_only_compatible | \(bit)" : "read_only_compatible & ~\(bit)"
        try PreparedStatement(connection, "UPDATE storage_meta SET read_only_compatible = \(value)").execute()
    }

    /// The triggers of an entity, by name.
    package static func triggers(of entity: CatalogEntity) -> [(name: String, sql: String)] {
        ["insert", "update", "delete"].map { operation in
            let name = "\(prefix)\(entity.id)_\(operation)"
            return (name, sql(of: name, after: operation, on: entity.stored))
        }
    }

    /// The entities whose triggers are missing or changed.
    package static func unguarded(_ catalog: Catalog, _ connection: Connection) throws -> [CatalogEntity] {
        let found = try found(connection)
        return catalog.live.filter { entity in
            triggers(of: entity).contains { found[$0.name].map(ExactText.init) != ExactText($0.sql) }
        }
    }

    /// Creates missing triggers if the guard is on, and removes superfluous ones.
    ///
    /// - Returns: Whether anything was changed.
    @discardableResult
    package static func install(_ catalog: Catalog, _ connection: Connection) throws -> Bool {
        let wanted = try isOn(connection) ? catalog.live.flatMap(triggers) : []
        var found = try found(connection)
        var missing: [String] = []
        for (name, sql) in wanted {
            if found[name].map(ExactText.init) == ExactText(sql) { found[name] = nil } else { missing.append(sql) }
        }
        for name in found.keys.sorted() { try PreparedStatement(connection, "DROP TRIGGER \(quoted(name))").execute() }
        for sql in missing { try PreparedStatement(connection, sql).execute() }
        return !found.isEmpty || !missing.isEmpty
    }

    private static let prefix = "storage_entity_"

    /// Whether a trigger is one of the guard's, on any table.
    static func owns(trigger name: String, on table: String, sql: String) -> Bool {
        guard name.hasPrefix(prefix) else { return false }
        let parts = name.dropFirst(prefix.count).split(separator: "_", maxSplits: 1)
        guard parts.count == 2, UInt32(parts[0]) != nil else { return false }
        return ExactText(sql) == ExactText(Self.sql(of: name, after: String(parts[1]), on: table))
    }

    /// All triggers with the guard's names, whatever they do.
    private static func found(_ connection: Connection) throws -> [String: String] {
        let select = try PreparedStatement(
            connection, "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND name GLOB '\(prefix)[0-9]*'")
        var found: [String: String] = [:]
        while try select.step() { found[select.string(0)] = select.string(1) }
        return found
    }

    /// AFTER, because a BEFORE trigger makes SQLite look up the row twice.
    private static func sql(of name: String, after operation: String, on table: String) -> String {
        """
        CREATE TRIGGER \(name) AFTER \(operation.uppercased()) ON \(quoted(table))
        WHEN \(quoted(STORAGE_WRITE_GUARD))() IS NOT 1
        BEGIN SELECT RAISE(ABORT, '\(STORAGE_WRITE_GUARD)'); END
        """
    }
}
