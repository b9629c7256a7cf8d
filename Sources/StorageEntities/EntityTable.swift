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
    private let isStamped: Bool
    /// Saves a row whose key the table distinguishes as Swift does.
    private let upsert: String
    package let select: String
    package let selectByKey: String
    package let deleteByKey: String

    /// The table as queries see it.
    package let queryTable: QueryTable

    package init(_ type: Record.Type = Record.self) {
        name = Record.databaseTableName
        columns = Record.schemaColumns
        let table = quoted(name)
        let keyColumn = columns.first(where: \.primaryKey)?.name ?? "id"
        self.keyColumn = keyColumn
        queryTable = QueryTable(name: name, columns: columns.map(\.name), key: keyColumn)
        let key = quoted(keyColumn)
        let names = columns.map { quoted($0.name) }
        let list = names.joined(separator: ", ")
        isStamped = Record.stampsUpdatedAt
        upsert = Self.upsert(name, columns, key: keyColumn, isStamped: isStamped)
        select = "SELECT \(list) FROM \(table)"
        selectByKey = "SELECT \(list) FROM \(table) WHERE \(key) = ?1"
        deleteByKey = "DELETE FROM \(table) WHERE \(key) = ?1"
    }

    /// - Parameter entity: Set for a table that may consider different keys equal, or keeps 1 and 1.0 apart; nil for
    ///   all others.
    private static func upsert(
        _ name: String, _ columns: [ColumnSchema], key: String, isStamped: Bool, in entity: CatalogEntity? = nil
    ) -> String {
        let table = quoted(name)
        let stamped = isStamped ? columns.last?.name : nil
        let others = columns.filter { $0.name != key }
        let compared = (entity == nil ? others : columns).filter { $0.name != stamped }
        let assignments = ((entity == nil ? others : columns).map { quoted($0.name) } + ["_position"])
            .map { "\($0) = excluded.\($0)" }
        let differences = compared.map { column in
            let isExact = entity?.column(named: column.name).map { $0.affinity == .blob || $0.name == key } ?? false
            return difference(of: column, in: table, isExact: isExact)
        }
        let conflict =
            differences.isEmpty
            ? "DO NOTHING"
            : "DO UPDATE SET \(assignments.joined(separator: ", ")) WHERE \(differences.joined(separator: " OR "))"
        let names = columns.map { quoted($0.name) } + ["_position"]
        let placeholders = names.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        return """
            INSERT INTO \(table)(\(names.joined(separator: ", "))) VALUES (\(placeholders)) ON CONFLICT(\(quoted(key))) \(conflict)
            """
    }

    private static func difference(of column: ColumnSchema, in table: String, isExact: Bool) -> String {
        let name = quoted(column.name)
        if isExact, column.type != Double.columnType {
            return "NOT storage_identical(\(table).\(name), excluded.\(name))"
        }
        // The column's own collation may consider different texts equal.
        let differs = "\(table).\(name) IS NOT excluded.\(name) COLLATE BINARY"
        guard column.type == Double.columnType else { return differs }
        // IS considers 0.0 and -0.0 equal, which are two values. A table created with SQL may store a whole number as
        // an integer, which is the same value.
        return """
            \(differs) OR (\(table).\(name) = 0 AND typeof(\(table).\(name)) = 'real' AND \
            NOT storage_identical(\(table).\(name), excluded.\(name)))
            """
    }

    /// The statement that saves a row, as the entity's table needs it.
    private func upsert(in catalog: Catalog) -> String {
        guard let entity = catalog.entity(named: name), entity.comparesLoosely else { return upsert }
        return Self.upsert(name, columns, key: keyColumn, isStamped: isStamped, in: entity)
    }

    /// - Throws: `invalid-name` for a column that the entity doesn't have.
    package func column(named name: String) throws -> String { try queryTable.column(named: name) }
}

// MARK: Writing

extension EntityTable {
    /// Saves records; rows that are unchanged aren't written.
    package func save(_ entities: some Sequence<Record.E>, now: Date, with writer: LogWriter) throws {
        let statement = try writer.statement(upsert(in: writer.catalog))
        let row = statement.writer
        let position = Int32(columns.count + 1)
        for entity in entities {
            do {
                try Record.from(entity, now: now).write(to: row)
            } catch let error as StorageError {
                throw error.naming(columns, of: name)
            }
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
    package func fetch(_ rows: StatementRows) throws -> [Record.E] {
        try Record.entities(reading: rows)
    }
}

extension CatalogEntity {
    /// Whether SQLite may consider different values equal: keys because of their collation, numbers in columns without
    /// conversion.
    fileprivate var comparesLoosely: Bool {
        columns.contains { column in
            guard !column.isDropped else { return false }
            if column.keyOrdinal > 0, column.collation != CatalogColumn.binary { return true }
            // Columns of these types have no two different numbers that SQLite considers equal, except for reals, which
            // are compared exactly.
            return column.affinity == .blob && !["REAL", "TEXT", "BLOB"].contains(column.type)
        }
    }
}
