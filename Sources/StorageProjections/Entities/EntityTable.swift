internal import CSQLite
package import Foundation
internal import GRDB
package import StorageCore
package import StorageLog

/// The table of a typed entity: the SQL that reads and writes it, made once per type.
package struct EntityTable<Record: StorageKitEntityRecord>: Sendable {
    package let name: String
    package let columns: [ColumnSchema]
    package let keyColumn: String
    package let upsert: String
    package let select: String
    package let selectByKey: String
    package let deleteByKey: String

    /// What queries know of it.
    package let shape: TableShape

    package init(_ type: Record.Type = Record.self) {
        name = Record.databaseTableName
        columns = Record.schemaColumns
        let table = quoted(name)
        let keyColumn = columns.first(where: \.primaryKey)?.name ?? "id"
        self.keyColumn = keyColumn
        shape = TableShape(name: name, columns: columns.map(\.name), key: keyColumn)
        let key = quoted(keyColumn)
        let names = columns.map { quoted($0.name) }
        let list = names.joined(separator: ", ")
        let marks = names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        let others = columns.filter { $0.name != keyColumn }
        let stamped = Record.stampsUpdatedAt ? columns.last?.name : nil
        let assignments = (others.map { quoted($0.name) } + ["_position"]).map { "\($0) = excluded.\($0)" }
        let differences = others.filter { $0.name != stamped }.map { column -> String in
            let name = quoted(column.name)
            let differs = "\(table).\(name) IS NOT excluded.\(name)"
            guard column.type == Double.columnType else { return differs }
            // IS takes 0.0 for -0.0, which are two values. A whole number may be kept as an integer, in a table that was
            // made with SQL, and is the same value then.
            return """
                \(differs) OR (\(table).\(name) = 0 AND typeof(\(table).\(name)) = 'real' AND \
                NOT storage_identical(\(table).\(name), excluded.\(name)))
                """
        }
        let conflict =
            differences.isEmpty
            ? "DO NOTHING"
            : "DO UPDATE SET \(assignments.joined(separator: ", ")) WHERE \(differences.joined(separator: " OR "))"
        upsert = """
            INSERT INTO \(table)(\(list), _position) VALUES (\(marks), ?\(names.count + 1)) ON CONFLICT(\(key)) \(conflict)
            """
        select = "SELECT \(list) FROM \(table)"
        selectByKey = "SELECT \(list) FROM \(table) WHERE \(key) = ?1"
        deleteByKey = "DELETE FROM \(table) WHERE \(key) = ?1"
    }

    /// - Throws: `invalid-name` for a column that the entity doesn't have.
    package func column(named name: String) throws -> String { try shape.column(named: name) }
}

// MARK: Writing

extension EntityTable {
    /// Saves records; those that are there already as they are stay untouched.
    package func save(_ entities: some Sequence<Record.E>, now: Date, with writer: LogWriter) throws {
        let statement = try writer.statement(upsert)
        let row = statement.writer
        let position = Int32(columns.count + 1)
        for entity in entities {
            try Record.from(entity, now: now).write(to: row)
            row.bind(writer.nextPosition, at: position)
            try statement.execute()
        }
    }

    package func delete(_ key: StorageValue, with writer: LogWriter) throws {
        let statement = try writer.statement(deleteByKey)
        try statement.writer.bind(key, at: 1)
        try statement.execute()
    }

    /// The position of a row's last event, nil where there is no row.
    package func position(of key: StorageValue, with writer: LogWriter) throws -> Int64? {
        let statement = try writer.statement("SELECT _position FROM \(quoted(name)) WHERE \(quoted(keyColumn)) = ?1")
        try statement.writer.bind(key, at: 1)
        defer { statement.reset() }
        return try statement.step() ? statement.integer(0) : nil
    }
}

// MARK: Reading

extension EntityTable {
    /// The entities that a statement over ``select`` finds.
    package func fetch(_ statement: OpaquePointer) throws -> [Record.E] {
        try Record.entities(reading: StatementRows(statement: statement))
    }
}
