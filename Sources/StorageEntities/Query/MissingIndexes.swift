package import GRDB
internal import StorageCore
internal import StorageLog

/// Finds the columns by which queries look up related rows, and that no index helps with.
package struct MissingIndexes {
    private let db: GRDB.Database

    package init(_ db: GRDB.Database) { self.db = db }

    /// A warning for each column without an index, with the statement that creates one.
    package func warnings(of lookups: [ColumnLookup]) throws -> [String] {
        var seen: Set<ColumnLookup> = []
        return try lookups.filter { try seen.insert($0).inserted && !isIndexed($0) }.map { lookup in
            let (table, column) = (lookup.table, lookup.column)
            return """
                "\(table.name)" has no index that begins with "\(column)": all its rows are read to find the related ones. \
                Create one in a migration: CREATE INDEX \(quoted("\(table.stored)_\(column)")) ON \
                \(quoted(table.stored))(\(try table.column(named: column))).
                """
        }
    }

    private func isIndexed(_ lookup: ColumnLookup) throws -> Bool {
        let table = lookup.table
        guard let index = table.columnIndex(of: lookup.column) else { return false }
        if table.key.first == index { return true }
        let stored = table.columns[index].stored
        // Otherwise a temporary table, view or index of the same name is found first.
        return try String.fetchOne(
            db,
            sql: """
                SELECT info.name FROM temp.pragma_index_list(?, 'main') AS list, \
                temp.pragma_index_info(list.name, 'main') AS info \
                WHERE info.seqno = 0 AND info.name = ? AND list.partial = 0
                """, arguments: [table.stored, stored]) != nil
    }
}
