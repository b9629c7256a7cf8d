import Foundation
import GRDB
import StorageCore
import StorageLog

/// The same tables in a bare SQLite database, changed by the same statements.
struct PlainMirror {
    private let queue: DatabaseQueue

    init() throws { queue = try DatabaseQueue() }

    /// - Throws: `DatabaseError` where SQLite refuses a step; then nothing has changed.
    func apply(_ steps: [ChangingTables.Step]) throws {
        try queue.write { db in
            for step in steps {
                switch step {
                case .sql(let sql): try db.execute(sql: sql)
                case .delete(let id): try db.execute(sql: "DELETE FROM cards WHERE id = ?", arguments: [id])
                case .save(let card):
                    try db.execute(
                        sql: """
                            INSERT INTO cards(id, title, score, data, updatedAt) VALUES (?, ?, ?, ?, ?)
                            ON CONFLICT (id) DO UPDATE SET
                              title = excluded.title, score = excluded.score, data = excluded.data,
                              updatedAt = excluded.updatedAt
                            """, arguments: [card.id, card.title, card.score, card.data, ChangingTables.date])
                }
            }
        }
    }

    /// The tables with their rows, and the SQL that makes them.
    func contents(of tables: [PlainTable]) throws -> [PlainTable] {
        try queue.read { db in
            try tables.map { table in
                var table = table
                table.rows = try table.rows(in: db)
                table.sql =
                    try String.fetchOne(
                        db, sql: "SELECT sql FROM sqlite_schema WHERE name = ?", arguments: [table.name]) ?? ""
                return table
            }
        }
    }

    /// What a column that is added gives to a row that is there already.
    static func fallback(_ definition: String) throws -> StorageValue {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1)")
            try db.execute(sql: "ALTER TABLE t ADD COLUMN \(definition)")
            let name = try String.fetchOne(db, sql: "SELECT name FROM pragma_table_info('t') WHERE cid = 1") ?? ""
            let column = PlainTable.Column(id: 0, name: name)
            let table = PlainTable(
                id: 0, name: "t", keys: [PlainTable.Column(id: 1, name: "id")], columns: [column])
            return try table.rows(in: db)[[1]]?[0] ?? .null
        }
    }
}
