internal import CSQLite
internal import Foundation
internal import StorageCore

/// A row of `sqlite_schema` with SQL of its own: a table, an index, a trigger or a view.
struct SchemaRow {
    let rowid: Int64
    let type: String
    let name: String
    /// The table of an index or a trigger; the object's own name otherwise.
    let table: String
    let root: Int64
    let sql: String
    /// The table's name as SQLite compares it.
    let key: ExactText
    /// Whether it is a trigger of the write guard, which isn't a part of its table's definition.
    let isGuard: Bool
    /// Whether a failed statement may keep its earlier changes: see ``usesFailResolution(_:at:)``.
    let usesFailResolution: Bool

    /// The word FAIL.
    private static let fail = "*[^a-zA-Z0-9_][fF][aA][iI][lL][^a-zA-Z0-9_]*"

    /// Sorted, so that one pass compares them with the rows that are known.
    static let select = "\(rows) ORDER BY rowid"

    /// Those of the table whose name is the parameter.
    static let selectOfTable = "\(rows) AND tbl_name = ?1 COLLATE NOCASE"

    private static let rows = """
        SELECT rowid, type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE sql IS NOT NULL
        """

    /// Reads the current row of ``select``.
    init(_ row: PreparedStatement) {
        rowid = row.integer(0)
        type = row.string(1)
        name = row.string(2)
        table = row.string(3)
        root = row.integer(4)
        sql = row.string(5)
        key = table.folded
        isGuard = type == "trigger" && WriteGuard.owns(trigger: name, on: table, sql: sql)
        usesFailResolution = !table.isReservedName && Self.usesFailResolution(row, at: 5)
    }

    /// Whether a failed statement may keep its earlier changes: the SQL in a column has `RAISE(FAIL)`, `INSERT OR FAIL`,
    /// `UPDATE OR FAIL`, or a constraint with `ON CONFLICT FAIL`. A text, a comment or a name that is the word FAIL doesn't count.
    static func usesFailResolution(_ row: PreparedStatement, at column: Int32) -> Bool {
        guard sqlite3_strglob(fail, sqlite3_column_text(row.pointer, column)) == 0 else { return false }
        // A savepoint too many does less harm than one that is missing.
        guard let tokens = try? SQLToken.tokens(of: row.string(column), skippingComments: true) else { return true }
        return tokens.indices.dropFirst(2).contains { index in
            guard tokens[index].isWord("FAIL") else { return false }
            let (first, second) = (tokens[index - 2], tokens[index - 1])
            return first.isWord("RAISE") && second == .symbol("(") || first.isWord("ON") && second.isWord("CONFLICT")
                || (first.isWord("INSERT") || first.isWord("UPDATE")) && second.isWord("OR")
        }
    }

    /// Whether the current row of ``select`` is this one, byte for byte.
    func isSame(as row: PreparedStatement) -> Bool {
        row.integer(0) == rowid && row.integer(4) == root && row.holds(sql, in: 5) && row.holds(name, in: 2)
            && row.holds(table, in: 3) && row.holds(type, in: 1)
    }

    /// Whether the object has a reserved name, or belongs to a table with one.
    var isReserved: Bool { name.isReservedName || table.isReservedName }

    /// Whether statements of users that name a table of SQLite's own find this one instead.
    var hidesBuiltIn: Bool { (type == "table" || type == "view") && ReservedNames.isBuiltIn(name) }

    /// The order within a table's definition: the table, then its indexes and triggers by name.
    func precedes(_ other: SchemaRow) -> Bool {
        if (type == "table") != (other.type == "table") { return type == "table" }
        if type != other.type { return type.utf8.lexicographicallyPrecedes(other.type.utf8) }
        return name.utf8.lexicographicallyPrecedes(other.name.utf8)
    }

    /// The objects of one table in the order of its definition, the table first; nil if none of them is a table that can be an
    /// entity's.
    ///
    /// - Parameter rows: Those with the table's ``key``.
    static func objects(ofTable rows: [SchemaRow]) -> [SchemaRow]? {
        let objects = rows.filter { !$0.isGuard }.sorted { $0.precedes($1) }
        // Virtual tables have no root page and can't be entities.
        guard let table = objects.first, table.type == "table", table.root > 0 else { return nil }
        return objects
    }

    /// The SQL as the catalog records it.
    var definition: String {
        guard type == "table" else { return sql }
        // SQLite spells the name of a recreated table differently, because renaming a table rewrites its SQL.
        return TableSQL.renaming(sql, to: quoted(name)) ?? sql
    }
}

extension String {
    /// Whether SQLite takes it for a name that begins with `storage_`, byte for byte but for ASCII case.
    package var isReservedName: Bool { lowercasedASCII.utf8.starts(with: "storage_".utf8) }
}

extension PreparedStatement {
    /// Whether a column of the current row holds exactly this text. Makes no copy of it.
    fileprivate func holds(_ text: String, in column: Int32) -> Bool {
        guard let start = sqlite3_column_text(pointer, column) else { return false }
        let count = Int(sqlite3_column_bytes(pointer, column))
        var text = text
        return text.withUTF8 { bytes in
            guard bytes.count == count, let base = bytes.baseAddress else { return bytes.count == count }
            return memcmp(start, base, count) == 0
        }
    }
}
