internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageLog

/// Which of a schema's views and triggers can be compiled: an additional column can break those that depend on the
/// number of columns.
struct SchemaUses: Equatable {
    private var works: [String: Bool] = [:]
    private var widths: [String: Int32] = [:]

    init(_ database: Connection) throws {
        // Of tables, only triggers can break, and those that a cascade fires are found at their own tables.
        let select = try PreparedStatement(
            database,
            """
            SELECT type, name FROM sqlite_schema
            WHERE (type = 'view' OR (type = 'table'
                AND name COLLATE NOCASE IN (SELECT tbl_name FROM sqlite_schema WHERE type = 'trigger')))
              AND sql NOT LIKE 'CREATE VIRTUAL%' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
              AND name NOT LIKE 'storage\\_%' ESCAPE '\\'
            """)
        while try select.step() {
            database.forgetCompiledStatements()
            let name = quoted(select.string(1))
            if select.string(0) == "view" {
                let view = try? PreparedStatement(database, "SELECT * FROM \(name)")
                works["the view \(name)"] = view != nil
                if let view { widths[name] = sqlite3_column_count(view.pointer) }
            }
            works["a trigger for inserts into \(name)"] =
                (try? PreparedStatement(database, "INSERT INTO \(name) DEFAULT VALUES")) != nil
            works["a trigger for deletes from \(name)"] =
                (try? PreparedStatement(database, "DELETE FROM \(name)")) != nil
            works["a trigger for updates of \(name)"] =
                (try? PreparedStatement(database, Self.update(of: select.string(1), database))) != nil
        }
    }

    /// An update of every column.
    ///
    /// - Throws: SQLite's error, already for the columns of a view that reads a missing table.
    static func update(of table: String, _ database: Connection) throws -> String {
        let columns = try PreparedStatement(database, "SELECT name FROM temp.pragma_table_info(?)")
        columns.bind(text: table, at: 1)
        var assignments: [String] = []
        while try columns.step() { assignments.append("\(quoted(columns.string(0))) = NULL") }
        return "UPDATE \(quoted(table)) SET \(assignments.joined(separator: ", "))"
    }

    /// - Throws: `conflict` if a view or trigger that could be compiled before no longer can.
    func check(against before: SchemaUses) throws {
        guard let broken = before.works.keys.sorted().first(where: { before.works[$0] == true && works[$0] == false })
        else { return }
        throw StorageError(
            .conflict, "\(broken) counts on the number of columns, and each table gets the column _position.",
            remedy: "Name the columns in it (INSERT INTO t(a, b) …) instead of relying on their number, then adopt.")
    }

    /// Views that show a column more than before.
    func widened(since before: SchemaUses) -> [String] {
        widths.keys.sorted().filter { (before.widths[$0] ?? .max) < (widths[$0] ?? 0) }
    }
}
