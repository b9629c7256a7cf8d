internal import StorageCore
internal import StorageLog

extension LogWriter {
    /// The indexes of an entity's table that were created with statements of their own.
    func indexes(of entity: CatalogEntity) throws -> [ColumnIndex] {
        let list = try PreparedStatement(
            database,
            """
            SELECT name, sql FROM main.sqlite_schema
            WHERE type = 'index' AND tbl_name = ?1 COLLATE NOCASE AND sql NOTNULL
            """)
        list.bind(text: entity.stored, at: 1)
        var indexes: [ColumnIndex] = []
        while try list.step() {
            // Otherwise a temporary index of the same name is found first.
            let info = try PreparedStatement(
                database, "SELECT name FROM temp.pragma_index_info(?1, 'main') ORDER BY seqno")
            info.bind(text: list.string(0), at: 1)
            var columns: [String?] = []
            while try info.step() { columns.append(info.row.isNull(at: 0) ? nil : info.string(0)) }
            indexes.append(ColumnIndex(name: list.string(0), sql: list.string(1), columns: columns))
        }
        return indexes
    }

    /// Drops a column of a table.
    ///
    /// - Throws: `schema-mismatch` that names the index, trigger or view that uses the column, or says that the table itself does.
    func drop(_ column: CatalogColumn, of entity: CatalogEntity) throws {
        do {
            try statement("ALTER TABLE \(quoted(entity.stored)) DROP COLUMN \(quoted(column.stored))").execute()
        } catch let error as StorageError
            where error.message.contains("cannot drop UNIQUE column: ")
            || error.message.contains("error in table \(entity.stored) after drop column: ")
        {
            throw StorageError(
                .schemaMismatch,
                "\"\(entity.name)\".\"\(column.name)\" is used by the table's own definition: \(error.message)",
                remedy: "Use a migration that recreates the table with the constraints that you want.",
                cause: error)
        } catch let error as StorageError where error.message.contains(" after drop column: ") {
            throw StorageError(
                .schemaMismatch,
                "\"\(entity.name)\".\"\(column.name)\" is used by something else: \(error.message)",
                remedy:
                    "Drop that index, trigger or view in a migration before this step; create it again after it if needed.",
                cause: error)
        }
    }
}
