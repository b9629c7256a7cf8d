import GRDB
import StorageCore
import StorageLog

/// A table as plain SQLite has it. It and its columns are known by numbers, which outlast their names.
struct PlainTable: Sendable {
    struct Column: Sendable, Hashable {
        let id: Int
        var name: String
        /// What SQLite gives to the rows that are there when the column comes.
        var fallback = StorageValue.null
    }

    /// The values of columns by the columns' numbers, for each key.
    typealias Rows = [[StorageValue]: [Int: StorageValue]]

    let id: Int
    var name: String
    var keys: [Column]
    var columns: [Column]
    /// Columns that are gone, by the names that they had then.
    var gone: [Column] = []
    var rows: Rows = [:]
    /// What makes it.
    var sql = ""

    /// One row as one text, for tables that are compared by the same SQL.
    var rowInSQL: String {
        "hex(" + (keys + columns).map { "quote(\(quoted($0.name)))" }.joined(separator: " || '|' || ") + ")"
    }

    func rows(in db: Database) throws -> Rows {
        let all = keys + columns
        let list = all.map { quoted($0.name) }.joined(separator: ", ")
        var rows: Rows = [:]
        let cursor = try Row.fetchCursor(db, sql: "SELECT \(list) FROM \(quoted(name))")
        while let row = try cursor.next() {
            let values = all.indices.map { (row[$0] as StorageValue?) ?? .null }
            let cells = zip(columns.map(\.id), values[keys.count...])
            rows[Array(values[..<keys.count])] = Dictionary(uniqueKeysWithValues: cells)
        }
        return rows
    }

    /// Makes the table and its rows in a database.
    func fill(_ db: Database) throws {
        try db.execute(sql: sql)
        let names = (keys + columns).map { quoted($0.name) }.joined(separator: ", ")
        let marks = (keys + columns).map { _ in "?" }.joined(separator: ", ")
        let insert = try db.makeStatement(sql: "INSERT INTO \(quoted(name))(\(names)) VALUES (\(marks))")
        for (key, cells) in rows {
            let values = key + columns.map { cells[$0.id] ?? .null }
            try insert.execute(arguments: StatementArguments(values))
        }
    }
}

/// Rows by the names of tables and columns.
typealias NamedRows = [String: [[StorageValue]: [String: StorageValue]]]

/// What a store held behind a commit.
struct PlainState: Sendable {
    let position: Int64
    let commit: Int64
    let tables: [PlainTable]
    /// Whether the commit before is that of the state before, and this one changed rows alone.
    let changedRowsOnly: Bool

    func table(_ id: Int) -> PlainTable? { tables.first { $0.id == id } }

    var named: NamedRows { inTheShape(of: tables) }

    /// The rows as tables of another time hold them: where they lack a column, it has its default.
    func inTheShape(of others: [PlainTable]) -> NamedRows {
        var result: NamedRows = [:]
        for other in others {
            result[other.name] = (table(other.id)?.rows ?? [:]).mapValues { cells in
                Dictionary(uniqueKeysWithValues: other.columns.map { ($0.name, cells[$0.id] ?? $0.fallback) })
            }
        }
        return result
    }

    /// The rows from which a difference to another state begins: a table or column that is gone there is continued by one of
    /// its name.
    func asBeginning(of other: PlainState) -> NamedRows {
        var result: NamedRows = [:]
        for new in other.tables {
            let old =
                table(new.id)
                ?? tables.first { old in
                    old.name == new.name && other.table(old.id) == nil && old.keys.count == new.keys.count
                }
            let columns = new.columns.map { column -> (name: String, old: Int?, fallback: StorageValue) in
                let heirs = old?.columns.filter { old in
                    old.name == column.name && !new.columns.contains { $0.id == old.id }
                }
                let same = old?.columns.first { $0.id == column.id } ?? heirs?.first
                return (column.name, same?.id, column.fallback)
            }
            result[new.name] = (old?.rows ?? [:]).mapValues { cells in
                Dictionary(
                    uniqueKeysWithValues: columns.map { name, id, fallback in
                        (name, id.map { cells[$0] ?? .null } ?? fallback)
                    })
            }
        }
        return result
    }
}
