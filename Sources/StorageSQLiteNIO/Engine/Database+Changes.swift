#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite

    extension Database {
        /// Makes SQLite report changed rows as long as they are observed.
        func watchRows() throws {
            let limit = observation.rowLimit
            guard limit != watch.rowLimit else { return }
            // A DELETE without WHERE that was compiled earlier truncates its table without reporting rows.
            if watch.rowLimit == 0 { cache.removeAll() }
            watch.watchRows(limit: limit, on: try connection)
        }

        func publish(_ committed: CommittedChanges) {
            var committed = committed
            if watch.rowLimit > 0 {
                // Rows of other tables have no rowid, or aren't reported.
                let others = committed.tables.filter { !hasRowIDs($0) }
                committed.rows.tables.formUnion(others)
                committed.rows.rows.removeAll { others.contains($0.table) }
            } else {
                // Rows recorded for others are incomplete for observers that have joined since.
                committed.rows = SQLiteRowUpdates(tables: committed.tables)
            }
            observation.publish(committed)
        }

        /// Whether a table's rows have rowids: it is neither virtual nor WITHOUT ROWID.
        private func hasRowIDs(_ table: String) -> Bool {
            var statement: OpaquePointer?
            defer { sqlite3_finalize(statement) }
            let sql = "SELECT 1 FROM temp.pragma_table_list(?1) WHERE schema = 'main' AND type <> 'virtual' AND wr = 0"
            guard let handle = try? connection.handle,
                sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK,
                storage_bind_text(statement, 1, table, table.utf8.count) == SQLITE_OK
            else { return false }
            return sqlite3_step(statement) == SQLITE_ROW
        }
    }
#endif
