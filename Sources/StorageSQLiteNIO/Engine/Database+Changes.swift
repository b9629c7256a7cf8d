#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite

    extension Database {
        /// Has SQLite report changed rows as long as somebody observes them.
        func watchRows() throws {
            let limit = observation.rowLimit
            guard limit != watch.rowLimit else { return }
            // A DELETE without WHERE that was compiled before empties its table without a call for each row.
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
                // Rows that were noted for others are no whole answer for who has begun to observe since.
                committed.rows = SQLiteRowUpdates(tables: committed.tables)
            }
            observation.publish(committed)
        }

        /// Whether a table is one whose rows have rowids: no virtual one, and none WITHOUT ROWID.
        private func hasRowIDs(_ table: String) -> Bool {
            var statement: OpaquePointer?
            defer { sqlite3_finalize(statement) }
            let sql = "SELECT 1 FROM pragma_table_list(?1) WHERE schema = 'main' AND type <> 'virtual' AND wr = 0"
            guard let handle = try? connection.handle,
                sqlite3_prepare_v2(handle, sql, -1, &statement, nil) == SQLITE_OK,
                storage_bind_text(statement, 1, table, table.utf8.count) == SQLITE_OK
            else { return false }
            return sqlite3_step(statement) == SQLITE_ROW
        }
    }
#endif
