import StorageKit

/// Tables of a store without history: they were omitted when a database was adopted, or the program deliberately writes them without the log.
enum UnrecordedTables {
    /// The library's own tables beside those that begin with `storage_`.
    private static let reserved = ["sync_", "hub_", "query_source_"]

    /// Returns their names, in order. Tables of projections and full-text indexes are derived from the log, and aren't included.
    static func names(in database: Connection, catalog: Catalog) throws -> [String] {
        let derived = Set(try StoredProjection.all(in: database).flatMap(\.tables.tables).map(\.folded))
        let select = try PreparedStatement(
            database,
            """
            SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
              AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'storage\\_%' ESCAPE '\\' ORDER BY name
            """)
        var names: [String] = []
        while try select.step() {
            let name = select.string(0)
            if catalog.entity(stored: name) != nil || derived.contains(name.folded) { continue }
            if reserved.contains(where: name.hasPrefix) { continue }
            names.append(name)
        }
        return names
    }
}
