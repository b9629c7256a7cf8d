#if SQLITE_ENGINE_SQLITENIO
    internal import StorageCore
    public import StorageRecords
    internal import StorageSQLiteClient

    extension SQLiteConnection {
        /// Runs a statement, or several where there are no arguments.
        ///
        /// ```swift
        /// let count = try await connection.execute("UPDATE users SET name = ? WHERE id = ?", ["Ada", 1])
        /// ```
        ///
        /// Each statement is a transaction of its own, unless this is the connection of a transaction's body. Rows are left
        /// out.
        ///
        /// - Returns: How many rows the last statement changed; rows that triggers and foreign keys changed aren't counted.
        /// - Throws: ``SQLiteClientError``: `constraint`, `read-only`, `busy`, `cancelled`, `closed`, `sql` for text that
        ///   SQLite doesn't take or arguments that aren't as many as its placeholders, `invalid-argument` for statements that leave a
        ///   transaction open. `StorageError` with `invalidValue` for an argument that SQLite has no value for, such as
        ///   NaN.
        @discardableResult
        public func execute(_ sql: String, _ arguments: [any StorageColumnValue] = []) async throws -> Int {
            try await run(sql) { database, script, policy in
                try database.execute(script, .columns(arguments), policy: policy) { _ in true }
            }
        }

        /// The rows that a query finds; of several statements, those of the last one.
        ///
        /// All of them are in memory: ``rows(_:_:)`` reads large results.
        ///
        /// - Throws: As ``execute(_:_:)``.
        public func query(_ sql: String, _ arguments: [any StorageColumnValue] = []) async throws -> [SQLiteStoredRow] {
            try await query(sql, arguments, transform: Self.copying())
        }

        /// The rows that a query finds, decoded by the names of their columns.
        ///
        /// - Throws: As ``execute(_:_:)``; `DecodingError` for a row that doesn't fit.
        @_disfavoredOverload
        public func query<Value: Decodable & Sendable>(
            _ sql: String, _ arguments: [any StorageColumnValue] = [], as type: Value.Type
        ) async throws -> [Value] { try await query(sql, arguments) { try $0.decode(type) } }

        /// The first column of the rows that a query finds.
        ///
        /// - Throws: As ``execute(_:_:)``; `StorageError` with `invalidValue` for a column that holds something else.
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

        /// The rows that a query finds, read as they are asked for. Nothing runs before the first one is.
        ///
        /// - Parameter sql: One statement.
        public func rows(_ sql: String, _ arguments: [any StorageColumnValue] = []) -> SQLiteRowSequence<
            SQLiteStoredRow
        > {
            SQLiteRowSequence(connection: self, sql: sql, arguments: .columns(arguments), transform: Self.copying())
        }

        /// The rows that a query finds, decoded by the names of their columns as they are asked for.
        public func rows<Value: Decodable & Sendable>(
            _ sql: String, _ arguments: [any StorageColumnValue] = [], as type: Value.Type
        ) -> SQLiteRowSequence<Value> {
            SQLiteRowSequence(connection: self, sql: sql, arguments: .columns(arguments)) { try $0.decode(type) }
        }

        /// The rowid of the row that this connection inserted last; 0 where there was none.
        ///
        /// Between the insert and this, another task may have inserted a row of its own: ask inside of the transaction.
        public var lastInsertedRowID: Int64 {
            get async throws { try await run("") { database, _, _ in try database.lastInsertedRowID } }
        }

        /// Which of these tables commits have changed, from now on.
        ///
        /// ```swift
        /// for await tables in connection.observeTables(["users"]) { … }
        /// ```
        ///
        /// Reported is what this connection commits, after it has; not what is rolled back. Of a statement with triggers or
        /// foreign keys, each table counts that it could have changed. After a commit by another connection or process all
        /// tables are reported, since SQLite doesn't say which it changed; the first such report may be of a commit before this
        /// call. Names of virtual tables and of tables are known, not those of views, nor tables of attached databases.
        ///
        /// The stream is for one consumer. What a slow one hasn't taken is one set. It ends when the connection is closed,
        /// and doesn't keep it open.
        public func observeTables(_ tables: Set<String>) -> AsyncStream<Set<String>> {
            lookout.observe(tables) { $0.tables }
        }

        /// Which rows of these tables commits have changed, from now on.
        ///
        /// ```swift
        /// for await updates in connection.observeRows(["users"]) {
        ///     for row in updates.rows { print(row.kind, row.table, row.rowID) }
        ///     if !updates.tables.isEmpty { … }
        /// }
        /// ```
        ///
        /// Reported is what this connection commits, after it has; not what is rolled back. Rows that triggers, foreign keys and
        /// conflicts change or replace are reported, too; one that gets another rowid is a deleted and an inserted one. VACUUM may
        /// give the rows of a table without an `INTEGER PRIMARY KEY` other rowids, which isn't reported.
        ///
        /// Of some changes only the table is reported, in ``SQLiteRowUpdates/tables``: those of tables `WITHOUT ROWID` and of
        /// virtual ones, those of statements that change the schema or fail in the middle, commits by other connections and
        /// processes, and where one transaction, in all its tables, or what the reader hasn't taken has more rows than
        /// `maximumRows`.
        ///
        /// The stream is for one consumer. What a slow one hasn't taken is one element. It ends when its task is cancelled or
        /// the connection is closed, and doesn't keep it open.
        ///
        /// - Parameters:
        ///   - tables: Their names are reported as they are spelt here.
        ///   - maximumRows: How many rows are kept; of more only the tables are.
        /// - Complexity: As long as somebody observes rows, each row that this connection changes costs a call of SQLite's
        ///   hook, and a DELETE without WHERE deletes row by row.
        public func observeRows(_ tables: Set<String>, maximumRows: Int = 1_000) -> AsyncStream<SQLiteRowUpdates> {
            lookout.observe(tables, maximumRows: max(maximumRows, 1)) { $0 }
        }

        /// Runs a job in the turn of this connection.
        private func run<Result: Sendable>(
            _ sql: String, _ body: @escaping @Sendable (Database, Script, Database.Policy) throws -> Result
        ) async throws -> Result {
            try await scope.enter()
            defer { scope.leave() }
            let (script, policy) = (Script(sql), policy)
            switch policy {
            case .alone: return try await engine.runAlone(script) { try body($0, script, policy) }
            case .inWriting, .inReading, .owner:
                return try await engine.waitingWhileBusy { try await engine.run { try body($0, script, policy) } }
            }
        }

        /// Copies rows. Those of one statement share their layout, as SQLite gives it.
        private static func copying() -> @Sendable (SQLiteRow) throws -> SQLiteStoredRow {
            { SQLiteStoredRow($0, layout: $0.layout) }
        }
    }
#endif
