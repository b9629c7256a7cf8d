internal import StorageCore
internal import StorageLog

/// A difference as SQL: statements that turn the tables of the first state into those of the second.
///
/// They use SQLite's names of tables and columns, and don't change StorageKit's own columns, so that they fit a copy of the
/// tables in any database.
package struct DifferenceStatements {
    private let difference: NetDifference

    /// - Parameter difference: Created with `forStatements`.
    package init(_ difference: NetDifference) { self.difference = difference }

    /// Calls `body` with the statements in the order in which they must run. Deletes precede inserts, so that keys don't
    /// conflict.
    ///
    /// What triggers did is among the changes, so those of changed tables are dropped before, and created at the end as the
    /// second state has them. Foreign keys must be off for the same reason.
    ///
    /// - Parameter narrowed: Returns the wanted part of a change; nil if nothing is wanted.
    package func forEach(
        where narrowed: (NetChange) -> NetChange? = { $0 }, _ body: (String) throws -> Void
    ) throws {
        for table in difference.tables where table.to == nil {
            if let from = table.from { try body("DROP TABLE \(quoted(from.stored));") }
        }
        var changed: Set<UInt32> = []
        func change(_ table: DifferenceTable, by statement: String) throws {
            if let to = table.to, let from = table.from, changed.insert(to.id).inserted {
                for name in Self.triggers(of: from, and: to) { try body("DROP TRIGGER IF EXISTS \(name);") }
            }
            try body(statement)
        }
        for table in difference.tables {
            for statement in schema(of: table) { try change(table, by: statement) }
        }
        for operation in [StorageEvent.Operation.delete, .update, .insert] {
            try difference.forEachChange([operation]) { found in
                if let wanted = narrowed(found), let statement = statement(for: wanted) {
                    try change(wanted.table, by: statement)
                }
                return true
            }
        }
        // Indexes last, because inserts are faster without them.
        for table in difference.tables {
            guard let to = table.to, table.from == nil || changed.contains(to.id) else { continue }
            for sql in to.definitions.rest where table.from == nil || TableSQL.nameOfTrigger(sql) != nil {
                try body(sql + ";")
            }
        }
    }

    /// The names of the triggers that a table has in either state, for SQL.
    private static func triggers(of from: CatalogEntity, and to: CatalogEntity) -> [String] {
        var names: [String] = []
        for sql in from.definitions.rest + to.definitions.rest {
            if let name = TableSQL.nameOfTrigger(sql), !names.contains(name) { names.append(name) }
        }
        return names
    }

    // MARK: Tables

    /// The statements that create, rename and alter a table before any of its rows is changed.
    private func schema(of table: DifferenceTable) -> [String] {
        guard let to = table.to else { return [] }
        guard let from = table.from else { return [to.definitions.table + ";"] }
        var statements: [String] = []
        let name = quoted(to.stored)
        if ExactText(from.stored) != ExactText(to.stored) {
            statements.append("ALTER TABLE \(quoted(from.stored)) RENAME TO \(name);")
        }
        for column in table.columns {
            guard let gone = column.from, !column.isSame else { continue }
            statements.append("ALTER TABLE \(name) DROP COLUMN \(quoted(gone.stored));")
        }
        let kept = to.live.compactMap { new in from.live.first { $0.id == new.id }.map { (old: $0, new: new) } }
        for (old, new) in kept where ExactText(old.stored) != ExactText(new.stored) {
            statements.append(
                "ALTER TABLE \(name) RENAME COLUMN \(quoted(old.stored)) TO \(quoted(new.stored));")
        }
        for column in table.columns {
            guard let new = column.to, !column.isSame else { continue }
            statements.append("ALTER TABLE \(name) ADD COLUMN \(definition(of: new));")
        }
        return statements
    }

    private func definition(of column: CatalogColumn) -> String {
        let isOpen = column.isImported && column.storesNumbers
        let type = column.type.isEmpty || isOpen ? "" : " \(column.type)"
        let fallback = column.defaultClause
        return quoted(column.stored) + type + (column.required && !fallback.isEmpty ? " NOT NULL" : "") + fallback
    }

    // MARK: Rows

    private func statement(for change: NetChange) -> String? {
        // The rows of a dropped table are dropped with it.
        guard let entity = change.table.to else { return nil }
        // Columns that don't exist in the second state have been dropped already.
        let cells = change.cells.filter { change.operation != .delete && $0.column.to != nil }
        let name = quoted(entity.stored)
        let keys = zip(change.table.key, change.key).map { (quoted($0.stored), $1.sql) }
        let condition = keys.map { "\($0) = \($1)" }.joined(separator: " AND ")
        switch change.operation {
        case .delete: return "DELETE FROM \(name) WHERE \(condition);"
        case .insert: return insert(into: name, keys, cells)
        case .update:
            let assignments = cells.map { "\(quoted($0.column.to?.stored ?? "")) = \($0.new.sql)" }
            return assignments.isEmpty
                ? nil : "UPDATE \(name) SET \(assignments.joined(separator: ", ")) WHERE \(condition);"
        }
    }

    private func insert(into name: String, _ keys: [(String, String)], _ cells: [NetChange.Cell]) -> String {
        let names = keys.map(\.0) + cells.map { quoted($0.column.to?.stored ?? "") }
        let values = keys.map(\.1) + cells.map { $0.new.sql }
        return "INSERT INTO \(name) (\(names.joined(separator: ", "))) VALUES (\(values.joined(separator: ", ")));"
    }
}
