#if SQLITE_ENGINE_SQLITENIO
    internal import StorageCore
    public import StorageRecords
    internal import StorageSQLiteClient

    extension SQLiteConnection {
        /// Runs a statement, or several statements if there are no arguments.
        ///
        /// ```swift
        /// let count = try await connection.execute("UPDATE users SET name = ? WHERE id = ?", ["Ada", 1])
        /// ```
        ///
        /// Each statement is a transaction of its own, unless this is the connection of a transaction's body. Rows are
        /// discarded.
        ///
        /// - Returns: The number of rows that the last statement changed, not counting changes by triggers and foreign
        ///   keys.
        /// - Throws: ``SQLiteClientError``: `constraint`, `read-only`, `busy`, `cancelled`, `closed`, `sql` for invalid
        ///   SQL or a number of arguments that doesn't match the placeholders, `invalid-argument` for statements that
        ///   leave a transaction open. `StorageError` with `invalidValue` for an argument that SQLite can't represent,
        ///   such as NaN.
        @discardableResult
        public func execute(_ sql: String, _ arguments: [any StorageColumnValue] = []) async throws -> Int {
            try await run(sql) { database, script, policy in
                try database.execute(script, .columns(arguments), policy: policy) { _ in true }
            }
        }

        /// Returns the rows of a query; for several statements, the rows of the last one.
        ///
        /// All rows are loaded into memory: use ``rows(_:_:)`` for large results.
        ///
        /// - Throws: As ``execute(_:_:)``.
        public func query(_ sql: String, _ arguments: [any StorageColumnValue] = []) async throws -> [SQLiteStoredRow] {
            try await query(sql, arguments, transform: Self.copying())
        }

        /// Returns the rows of a query, decoded by column names.
        ///
        /// - Throws: As ``execute(_:_:)``; `DecodingError` for a row that doesn't match the type.
        @_disfavoredOverload
        public func query<Value: Decodable & Sendable>(
            _ sql: String, _ arguments: [any StorageColumnValue] = [], as type: Value.Type
        ) async throws -> [Value] { try await query(sql, arguments) { try $0.decode(type) } }

        /// Returns the first column of each row of a query.
        ///
        /// - Throws: The errors of ``execute(_:_:)``; `StorageError` with `invalidValue` for a value that isn't of this
        ///   type.
        public func query<Value: StorageColumnValue>(
            _ sql: String, _ arguments: [any StorageColumnValue] = [], as type: Value.Type
        ) async throws -> [Value] { try await query(sql, arguments) { try $0.value(type, at: 0) } }

        private func query<Value: Sendable>(
            _ sql: String, _ arguments: [any StorageColumnValue],
            transform: @escaping @Sendable (SQLiteRow) throws -> Value
        ) async throws -> [Value] {
            try await run(sql) { database, script, policy in
                // The rows, and the number of the statement that they belong to.
                var (rows, statement): ([Value], Int) = ([], 0)
                _ = try database.execute(script, .columns(arguments), policy: policy) { row in
                    if statement != script.statementCount { (rows, statement) = ([], script.statementCount) }
                    rows.append(try transform(row))
                    return true
                }
                return statement + 1 < script.statementCount ? [] : rows
            }
        }

        /// Returns a sequence of the rows of a query, which are read on demand. Nothing runs before the first one is
        /// requested.
        ///
        /// - Parameter sql: A single statement.
        public func rows(_ sql: String, _ arguments: [any StorageColumnValue] = []) -> SQLiteRowSequence<
            SQLiteStoredRow
        > {
            SQLiteRowSequence(connection: self, sql: sql, arguments: .columns(arguments), transform: Self.copying())
        }

        /// Returns a sequence of the rows of a query, which are read on demand and decoded by column names.
        public func rows<Value: Decodable & Sendable>(
            _ sql: String, _ arguments: [any StorageColumnValue] = [], as type: Value.Type
        ) -> SQLiteRowSequence<Value> {
            SQLiteRowSequence(connection: self, sql: sql, arguments: .columns(arguments)) { try $0.decode(type) }
        }

        /// The rowid of the connection's last inserted row; 0 if there is none.
        ///
        /// Another task may have inserted a row since yours: read this inside the transaction.
        ///
        /// - Throws: ``SQLiteClientError``: `cancelled`, `closed`.
        public var lastInsertedRowID: Int64 {
            get async throws { try await run("") { database, _, _ in try database.lastInsertedRowID } }
        }

        /// Observes which of these tables later commits change.
        ///
        /// ```swift
        /// for await tables in connection.observeTables(["users"]) { … }
        /// ```
        ///
        /// Commits of this connection are reported after they are complete; rollbacks aren't. For a statement with
        /// triggers or foreign keys, each table that it could have changed is reported. After a commit by another
        /// connection or process all tables are reported, since SQLite doesn't say which it changed; the first such
        /// report may be about a commit before this call. Tables and virtual tables can be observed, but not views, nor
        /// tables of attached databases.
        ///
        /// The stream is for a single consumer. Changes that a slow consumer hasn't received are combined into one set.
        /// The stream ends when the connection is closed, and doesn't keep it open.
        public func observeTables(_ tables: Set<String>) -> AsyncStream<Set<String>> {
            poller.observe(tables) { $0.tables }
        }

        /// Observes which rows of these tables later commits change.
        ///
        /// ```swift
        /// for await updates in connection.observeRows(["users"]) {
        ///     for row in updates.rows { print(row.kind, row.table, row.rowID) }
        ///     if !updates.tables.isEmpty { … }
        /// }
        /// ```
        ///
        /// Commits of this connection are reported after they are complete; rollbacks aren't. Rows changed by triggers,
        /// foreign keys and conflict resolution are reported, too; a row that changes its rowid is reported as deleted
        /// and inserted. VACUUM may change the rowids of a table without an `INTEGER PRIMARY KEY`, which isn't
        /// reported.
        ///
        /// For some changes only the table is reported, in ``SQLiteRowUpdates/tables``: those of `WITHOUT ROWID` tables
        /// and virtual tables, of statements that change the schema or fail midway, and of commits by other connections
        /// and processes; also if a transaction, across all its tables, or the changes not received yet have more rows
        /// than `maximumRows`.
        ///
        /// The stream is for a single consumer. Changes that a slow consumer hasn't received are combined into one
        /// element. The stream ends when its task is cancelled or the connection is closed, and doesn't keep it open.
        ///
        /// - Parameters:
        ///   - tables: The names of the tables, which are reported as spelled here.
        ///   - maximumRows: The maximum number of rows to keep; beyond that, only tables are reported.
        /// - Complexity: While rows are observed, each row that this connection changes costs a call of SQLite's hook,
        ///   and a DELETE without WHERE deletes row by row.
        public func observeRows(_ tables: Set<String>, maximumRows: Int = 1_000) -> AsyncStream<SQLiteRowUpdates> {
            poller.observe(tables, maximumRows: max(maximumRows, 1)) { $0 }
        }

        /// Runs a job when it is this connection's turn.
        private func run<Result: Sendable>(
            _ sql: String, _ body: @escaping @Sendable (Database, SQLScript, Database.Policy) throws -> Result
        ) async throws -> Result {
            try await scope.enter()
            defer { scope.leave() }
            let (script, policy) = (SQLScript(sql), policy)
            switch policy {
            case .autocommit: return try await engine.runAutocommitted(script) { try body($0, script, policy) }
            case .inWriting, .inReading, .owner:
                return try await engine.waitingWhileBusy { try await engine.run { try body($0, script, policy) } }
            }
        }

        /// Copies rows. Those of one statement share their layout.
        private static func copying() -> @Sendable (SQLiteRow) throws -> SQLiteStoredRow {
            { SQLiteStoredRow($0, layout: $0.layout) }
        }
    }
#endif
