internal import StorageCore
internal import StorageLog

/// A difference as SQL: statements that turn the tables of the first state into those of the second.
///
/// They use SQLite's names of tables and columns, and don't change StorageKit's own columns, so that they fit a copy of the
/// tables in any database. They alter tables rather than recreate them, for the same reason: what `ALTER TABLE` can't do, such as
/// changing the constraints of a column, they leave.
package struct DifferenceStatements {
    private let difference: NetDifference

    /// - Parameter difference: Created with `forStatements`.
    package init(_ difference: NetDifference) { self.difference = difference }

    /// Calls `body` with the statements in the order in which they must run. Deletes precede inserts, so that keys don't
    /// conflict.
    ///
    /// What triggers did is among the changes, so those of changed tables are dropped before, and created at the end as the
    /// second state has them. Foreign keys must be off for the same reason. Indexes that the second state doesn't have in the
    /// same words are dropped before the columns, and the others created at the end.
    ///
    /// - Parameter narrowed: Returns the wanted part of a change; nil if nothing is wanted.
    /// - Throws: `corrupt` if the catalog's SQL of a table, index or trigger isn't one statement that creates it.
    package func forEach(
        where narrowed: (NetChange) -> NetChange? = { $0 }, _ body: (String) throws -> Void
    ) throws {
        for table in difference.tables where table.to == nil {
            if let from = table.from { try body("DROP TABLE \(quoted(from.stored));") }
        }
        let kept = difference.tables.compactMap(KeptTable.init)
        let renames = RenamingSteps.steps(kept.map { ($0.from.stored, $0.to.stored) })
        var objects = AttachedObjects(kept)
        // SQLite checks the triggers of all tables when it alters one.
        let altersTables = !renames.isEmpty || kept.contains(where: \.isAltered)
        for table in kept {
            let lasting = Set(table.to.definitions.rest.map(ExactText.init))
            try objects.drop(
                of: table,
                where: { sql, isTrigger in
                    !lasting.contains(ExactText(sql)) || (isTrigger ? altersTables : table.changesColumnNames)
                }, body)
        }
        for (old, new) in renames { try body("ALTER TABLE \(quoted(old)) RENAME TO \(quoted(new));") }
        for table in kept { try table.alterations.forEach(body) }
        for table in difference.tables where table.from == nil {
            if let to = table.to { try body(to.statements.table.script) }
        }
        let keptTables = Dictionary(kept.map { ($0.to.id, $0) }) { first, _ in first }
        var changed: Set<UInt32> = []
        for operation in [StorageEvent.Operation.delete, .update, .insert] {
            try difference.forEachChange([operation]) { found in
                if let wanted = narrowed(found), let statement = statement(for: wanted) {
                    if let table = keptTables[wanted.table.to?.id ?? 0], changed.insert(table.to.id).inserted {
                        try objects.drop(of: table, where: { $1 }, body)
                    }
                    try body(statement)
                }
                return true
            }
        }
        // Indexes last, because inserts are faster without them.
        for table in difference.tables {
            if let to = table.to { for object in try objects.missing(of: to) { try body(object.script) } }
        }
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
