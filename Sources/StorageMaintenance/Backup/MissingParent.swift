internal import StorageCore
internal import StorageLog

/// A foreign key of a table to a table that doesn't exist: SQLite then refuses every change of its own table that it may concern.
struct MissingParent: Hashable {
    let table: String
    let parent: String

    /// The missing parents of a store's tables.
    ///
    /// A table counts only if one of its rows has a parent: the program that opens the store may create the other table.
    static func all(in database: Connection) throws -> Set<MissingParent> {
        let select = try PreparedStatement(
            database,
            """
            SELECT m.name, k."table", group_concat('"' || replace(k."from", '"', '""') || '" IS NOT NULL', ' AND ')
            FROM sqlite_schema AS m, temp.pragma_foreign_key_list(m.name) AS k
            WHERE m.type = 'table' AND NOT EXISTS (
                SELECT 1 FROM sqlite_schema AS p WHERE p.type = 'table' AND p.name = k."table" COLLATE NOCASE)
            GROUP BY m.name, k.id
            """)
        var found: Set<MissingParent> = []
        while try select.step() {
            let missing = MissingParent(table: select.string(0), parent: select.string(1))
            let row = "SELECT 1 FROM \(quoted(missing.table)) WHERE \(select.string(2)) LIMIT 1"
            if try PreparedStatement(database, row).step() { found.insert(missing) }
        }
        return found
    }
}
