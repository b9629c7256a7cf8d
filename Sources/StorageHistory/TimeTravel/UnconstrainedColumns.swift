internal import StorageCore
package import StorageLog

/// A table with the columns of an entity's, and none of its constraints.
package enum UnconstrainedColumns {
    /// The declarations of an entity's columns. They compare like the store's, and keep the events' values as they are: those
    /// were already converted by the column's affinity, which changes nothing the second time.
    ///
    /// - Parameter database: The database whose collations are used; unknown ones are left out.
    package static func columns(of entity: CatalogEntity, in database: Connection) throws -> [String] {
        let collations = try collations(database)
        return entity.live.map { column in
            let isCollated = column.collation != CatalogColumn.binary && collations.contains(column.collation)
            return quoted(column.stored) + type(of: column, in: entity)
                + (isCollated ? " COLLATE \(quoted(column.collation))" : "") + column.defaultClause
        }
    }

    /// A type with the column's affinity.
    private static func type(of column: CatalogColumn, in entity: CatalogEntity) -> String {
        switch column.affinity {
        case .blob: return ""
        case .integer:
            // INTEGER makes a key the rowid, which can't hold other values than integers.
            let isRowid = entity.key.count == 1 && column.type.lowercasedASCII == "integer"
            return isRowid || column.keyOrdinal == 0 ? " INTEGER" : " INT"
        case .text, .numeric, .real: return " \(column.affinity.rawValue)"
        }
    }

    private static func collations(_ database: Connection) throws -> Set<String> {
        let select = try PreparedStatement(database, "SELECT upper(name) FROM temp.pragma_collation_list")
        var names: Set<String> = []
        while try select.step() { names.insert(select.string(0)) }
        return names
    }
}
