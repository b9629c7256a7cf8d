internal import StorageCore
internal import StorageLog

/// Keeping the rowids of a table whose rows are made from the log.
///
/// SQLite numbers the rows of a table without an INTEGER key by itself, and a user's virtual tables refer to rows by these
/// numbers, such as a full-text index that has the table as its content. The log doesn't have them, so they come from the old
/// table: a row that is there, by its key, keeps its rowid. Other rows get greater ones than all of the old table, to which
/// nothing refers. To rebuild the indexes instead would add rows that their triggers leave out, and isn't possible for every kind.
///
/// Without virtual tables of the user's, rows get any rowids, as they may by a `VACUUM`: keeping them takes as long as writing
/// the rows once or twice more.
struct KeptRowids {
    private let old: CatalogEntity
    private let database: Connection

    /// - Parameter old: The entity as the old table has it.
    init(of old: CatalogEntity, _ database: Connection) {
        self.old = old
        self.database = database
    }

    /// Gives the rows of a new table the rowids to keep.
    ///
    /// - Parameters:
    ///   - table: The new table, in SQL, whose rowids SQLite has assigned. It has a unique index of its key.
    ///   - entity: The entity as the new table has it.
    /// - Returns: The columns that a copy of the new table has to name first, to keep them too; none if they aren't kept.
    /// - Complexity: O(n log n) in the rows of both tables; O(1) if there is nothing to keep.
    func assign(to table: String, as entity: CatalogEntity) throws -> [String] {
        guard let made = entity.rowidName, let kept = old.rowidName, entity.key.count == old.key.count,
            try isReferredTo(), try hasRowids(named: kept)
        else { return [] }
        let last = try PreparedStatement(
            database,
            """
            SELECT max(last) FROM (
              SELECT max(\(kept)) AS last FROM main.\(quoted(old.stored)) UNION ALL SELECT max(\(made)) FROM \(table))
            """)
        // There is no room for others after such a rowid.
        guard try last.step(), last.integer(0) < Int64.max / 2 else { return [] }
        let offset = last.integer(0)
        last.reset()
        // Out of the range of the kept ones first, so that no two rows ever have the same.
        try PreparedStatement(database, "UPDATE OR ABORT \(table) SET \(made) = \(made) + ?1").run(offset)
        // By the rows and not by an index of the old table, which may be damaged. A value without affinity is found by the index of
        // either kind of new table.
        let isSame = zip(entity.key, old.key).map { "made.\(quoted($0.stored)) = +kept.\(quoted($1.stored))" }
        try PreparedStatement(
            database,
            """
            UPDATE OR ABORT \(table) AS made SET \(made) = kept.\(kept)
            FROM main.\(quoted(old.stored)) AS kept NOT INDEXED WHERE \(isSame.joined(separator: " AND "))
            """
        ).execute()
        return [made]
    }

    /// Whether the user has virtual tables.
    private func isReferredTo() throws -> Bool {
        try PreparedStatement(
            database,
            "SELECT 1 FROM main.sqlite_schema WHERE type = 'table' AND rootpage = 0 AND name NOT GLOB 'storage_*'"
        ).step()
    }

    /// Whether the old table is there with its key, and with rowids that aren't the key and that no column of another program hides.
    private func hasRowids(named rowid: String) throws -> Bool {
        let table = try PreparedStatement(
            database,
            """
            SELECT 1 FROM temp.pragma_table_list(?1) WHERE schema = 'main' AND type = 'table' AND wr = 0
            AND EXISTS (SELECT 1 FROM temp.pragma_index_list(?1, 'main') WHERE origin = 'pk')
            AND NOT EXISTS (SELECT 1 FROM temp.pragma_table_xinfo(?1, 'main') WHERE name = ?2 COLLATE NOCASE)
            """)
        table.bind(text: old.stored, at: 1)
        table.bind(text: rowid, at: 2)
        guard try table.step() else { return false }
        let key = try PreparedStatement(
            database, "SELECT name FROM temp.pragma_table_info(?1, 'main') WHERE pk > 0 ORDER BY pk")
        key.bind(text: old.stored, at: 1)
        var names: [ExactText] = []
        while try key.step() { names.append(key.string(0).folded) }
        return names == old.key.map(\.stored.folded)
    }
}
