internal import StorageCore
package import StorageLog

/// Whether foreign keys refer to rows that exist.
///
/// The foreign keys themselves may refer to a table or column that doesn't exist. SQLite then refuses to check anything, or counts
/// each row of the table. The schema is wrong then, and no row is damaged.
package struct ForeignKeyCheck {
    /// A table with rows that refer to missing rows.
    package struct Broken: Sendable {
        package let table: String
        package let rows: Int64
    }

    /// A table with foreign keys that can't be checked.
    package struct Unresolved: Sendable {
        package let table: String
        /// The reason, as a sentence without its end.
        package fileprivate(set) var reason: String
    }

    package private(set) var broken: [Broken] = []
    package private(set) var unresolved: [Unresolved] = []

    /// - Throws: Errors of the file and of the machine.
    package init(_ database: Connection) throws {
        for table in try Self.tables(database) {
            unresolved += try Self.missingParents(of: table, database)
            do {
                let rows = try Self.brokenRows(of: table, database)
                if rows > 0 { broken.append(Broken(table: table, rows: rows)) }
            } catch let error as StorageError {
                if let missing = error.missingDefinition {
                    let reason = "its foreign keys can't be checked: \(missing) isn't registered in this process"
                    unresolved.append(Unresolved(table: table, reason: reason))
                } else if error.message.contains("foreign key mismatch") {
                    if unresolved.last?.table != table {
                        unresolved.append(Unresolved(table: table, reason: try Self.mismatch(of: table, database)))
                    }
                    unresolved[unresolved.count - 1].reason += "; its foreign keys weren't checked"
                } else {
                    throw error
                }
            }
        }
    }

    private static func tables(_ database: Connection) throws -> [String] {
        let select = try PreparedStatement(
            database,
            """
            SELECT DISTINCT m.name FROM sqlite_schema AS m, temp.pragma_foreign_key_list(m.name) AS k
            WHERE m.type = 'table' ORDER BY m.name
            """)
        var names: [String] = []
        while try select.step() { names.append(select.string(0)) }
        return names
    }

    /// - Returns: The foreign keys that refer to a table or to a column that doesn't exist.
    private static func missingParents(of table: String, _ database: Connection) throws -> [Unresolved] {
        let select = try PreparedStatement(
            database,
            """
            SELECT k."from", k."table", p.name IS NULL, k."to" FROM temp.pragma_foreign_key_list(?1) AS k
            LEFT JOIN sqlite_schema AS p ON p.type = 'table' AND p.name = k."table" COLLATE NOCASE
            WHERE p.name IS NULL OR k."to" IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM temp.pragma_table_xinfo(k."table") AS c WHERE c.name = k."to" COLLATE NOCASE)
            ORDER BY k.id DESC, k.seq
            """)
        select.bind(text: table, at: 1)
        var found: [Unresolved] = []
        while try select.step() {
            let (column, parent) = (select.string(0), select.string(1))
            let reason =
                select.integer(2) != 0
                ? "its column \"\(column)\" refers to the table \"\(parent)\", which doesn't exist"
                : "its column \"\(column)\" refers to the column \"\(select.string(3))\" of \"\(parent)\", which doesn't exist"
            found.append(Unresolved(table: table, reason: reason))
        }
        return found
    }

    /// - Returns: The number of rows that refer to a missing row of a table that exists.
    private static func brokenRows(of table: String, _ database: Connection) throws -> Int64 {
        // Not EXISTS, which would read the whole schema again for each row.
        let check = try PreparedStatement(
            database,
            """
            SELECT count(*) FROM temp.pragma_foreign_key_check(?1) AS c
            WHERE c.parent COLLATE NOCASE IN (SELECT name FROM sqlite_schema WHERE type = 'table')
            """)
        check.bind(text: table, at: 1)
        return try check.step() ? check.integer(0) : 0
    }

    /// The reason for SQLite's "foreign key mismatch" where the columns exist: it finds the parent's row by an index.
    private static func mismatch(of table: String, _ database: Connection) throws -> String {
        let select = try PreparedStatement(
            database, "SELECT DISTINCT \"table\" FROM temp.pragma_foreign_key_list(?1) ORDER BY 1")
        select.bind(text: table, at: 1)
        var parents: [String] = []
        while try select.step() { parents.append("\"\(select.string(0))\"") }
        return
            "one of its foreign keys refers to columns of \(parents.joined(separator: " or ")) that have neither a primary key nor a unique index"
    }
}
