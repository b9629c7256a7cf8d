internal import CSQLite

/// The required schema of the file, apart from its rows.
package enum StoreLayout {
    /// The engine's own tables and triggers, with their exact SQL.
    package static var objects: [(name: String, sql: String)] { StoreSchema.objects }

    /// The SQL of a table, its indexes and triggers, as the catalog records it.
    package static func definition(of table: String, in database: Connection) throws -> [String]? {
        try IntrospectedSchema(database).tables[table.folded]?.definition
    }
}
