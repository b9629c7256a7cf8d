internal import StorageCore
internal import StorageLog

/// The indexes and triggers of entities' tables.
enum AttachedObjects {
    /// Creates those of a new table, as the log has them.
    ///
    /// - Throws: `corrupt`, before any is created, if the log has other statements for them.
    static func make(of entity: CatalogEntity, in database: Connection) throws {
        for statement in try entity.statements.rest {
            // A table that another program has renamed has kept them, under the same names.
            let kind = statement.kind.rawValue.uppercased()
            try PreparedStatement(database, "DROP \(kind) IF EXISTS \(quoted(statement.name))").execute()
            try statement.run(on: database)
        }
    }
}
