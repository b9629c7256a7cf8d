package import StorageLog

/// The tables that statements open, read from their programs, which identify tables by their root pages.
///
/// SQLite reports to an authorizer neither the columns that `USING` and `NATURAL JOIN` compare, nor a table of which nothing else
/// is read. (Seen with 3.40.1.)
package struct ProgramTables {
    private let connection: Connection
    private let tables: [Int64: String]

    /// - Parameter connection: Its main database is inspected. Valid until its schema changes.
    package init(_ connection: Connection) throws {
        let select = try PreparedStatement(
            connection, "SELECT rootpage, tbl_name FROM sqlite_schema WHERE rootpage > 0")
        var tables: [Int64: String] = [:]
        while try select.step() { tables[select.integer(0)] = select.string(1) }
        self.connection = connection
        self.tables = tables
    }

    /// The tables that a statement opens, and whether it opens virtual ones. The program doesn't depend on the bound values.
    ///
    /// - Throws: SQLite's error for the statement.
    package func opened(by sql: String) throws -> (names: Set<String>, hasVirtualTables: Bool) {
        let program = try PreparedStatement(connection, "EXPLAIN \(sql)")
        var names: Set<String> = []
        var hasVirtualTables = false
        while try program.step() {
            switch program.string(1) {
            // The second operand is the root page; the third is 0 for the main database.
            case "OpenRead" where program.integer(4) == 0:
                if let name = tables[program.integer(3)] { names.insert(name) }
            case "VOpen": hasVirtualTables = true
            default: break
            }
        }
        return (names, hasVirtualTables)
    }
}
