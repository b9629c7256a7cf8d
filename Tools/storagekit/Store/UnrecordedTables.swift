import StorageKit

/// Tables of a store without history: they were omitted when a database was adopted, or the program deliberately writes them without the log.
enum UnrecordedTables {
    /// Returns their names, in order. Tables of projections and full-text indexes are derived from the log, and aren't included.
    static func names(in database: Connection, catalog: Catalog) throws -> [String] {
        let derived = Set(try StoredProjection.all(in: database).flatMap(\.tables.tables).map(\.folded))
        let select = try PreparedStatement(
            database,
            """
            SELECT name FROM temp.pragma_table_list WHERE schema = 'main' AND type = 'table'
              AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT LIKE 'storage\\_%' ESCAPE '\\' ORDER BY name
            """)
        var names: [String] = []
        while try select.step() {
            let name = select.string(0)
            if catalog.entity(stored: name) != nil || derived.contains(name.folded) { continue }
            if ReservedNames.modules.contains(where: name.hasPrefix) { continue }
            names.append(name)
        }
        return names
    }
}
