internal import StorageCore
internal import StorageLog

/// The indexes and triggers of entities' tables.
enum AttachedObjects {
    /// Creates those of a new table, as the log has them.
    static func make(of entity: CatalogEntity, in database: Connection) throws {
        for sql in entity.definitions.rest {
            // A table that another program has renamed has kept them, under the same names.
            if let name = TableSQL.nameOfIndex(sql) {
                try PreparedStatement(database, "DROP INDEX IF EXISTS \(name)").execute()
            } else if let name = TableSQL.nameOfTrigger(sql) {
                try PreparedStatement(database, "DROP TRIGGER IF EXISTS \(name)").execute()
            }
            try PreparedStatement(database, sql).execute()
        }
    }
}
