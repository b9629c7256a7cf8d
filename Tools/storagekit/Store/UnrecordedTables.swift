import StorageKit

/// Tables of a store that have no history: they were left out when a database was adopted, or its program writes them past
/// the log on purpose.
enum UnrecordedTables {
    /// The library's own tables beside those that begin with `storage_`.
    private static let reserved = ["sync_", "hub_", "query_source_"]

    /// Their names, in order. Those of projections and of full-text indexes are made from the log, and aren't among them.
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
