#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import StorageRecords
    internal import StorageSQLiteClient

    extension Database {
        /// What a statement may do to its transaction.
        enum Policy {
            /// The statement, or the script, is a transaction of its own.
            case autocommit
            /// A transaction is open, and only its owner may end it.
            case inWriting
            /// The same, and changes are refused.
            case inReading
            /// The owner begins and ends transactions.
            case owner
        }

        /// Runs a text of one statement, or of several without arguments.
        ///
        /// - Parameter onRow: Returns false to stop.
        /// - Returns: The number of rows that the last statement changed.
        @discardableResult
        func execute(
            _ sql: String, _ arguments: Arguments, policy: Policy,
            onRow: (SQLiteRow) throws -> Bool = { _ in true }
        ) throws -> Int {
            let script = SQLScript(sql)
            return try execute(script, arguments, policy: policy, onRow: onRow)
        }

        /// Continues a script at its next statement. After `busy` that is the statement that was busy.
        func execute(
            _ script: SQLScript, _ arguments: Arguments, policy: Policy, onRow: (SQLiteRow) throws -> Bool
        ) throws -> Int {
            try checkText(script.text)
            try watchRows()
            var wantsRows = true
            while let statement = try next(of: script, arguments) {
                defer { giveBack(statement, script) }
                try check(statement, policy)
                script.changes = try run(statement, arguments) { row in
                    if wantsRows { wantsRows = try onRow(row) }
                    return wantsRows
                }
                script.advance()
            }
            guard script.statementCount > 0 || arguments.count == 0 else { throw SQLiteClientError.noStatement }
            return script.changes
        }

        private func run(
            _ statement: CompiledStatement, _ arguments: Arguments, onRow: (SQLiteRow) throws -> Bool
        ) throws -> Int {
            let run = try begin(statement, arguments)
            do {
                while try step(statement) {
                    guard try onRow(SQLiteRow(statement.row, layout: statement.layout)) else { break }
                }
            } catch {
                end(run, hasSucceeded: false)
                throw error
            }
            return end(run, hasSucceeded: true)
        }

        /// A running statement, with the state before it.
        struct Run {
            let statement: CompiledStatement
            let changes: Int64
            let wasInTransaction: Bool
        }

        func begin(_ statement: CompiledStatement, _ arguments: Arguments) throws -> Run {
            guard statement.parameterCount == arguments.count else {
                throw SQLiteClientError.argumentCount(arguments.count, placeholders: statement.parameterCount)
            }
            do { try arguments.bind(to: statement.writer) } catch {
                // A binding failure recorded for this thread mustn't affect the next statement; without a statement
                // this only clears it.
                _ = storage_step(nil)
                statement.reset()
                throw error
            }
            return Run(
                statement: statement, changes: sqlite3_total_changes64(try connection.handle),
                wasInTransaction: try isInTransaction)
        }

        func step(_ statement: CompiledStatement) throws -> Bool {
            let code = watch.noting(into: &statement.effects) { storage_step(statement.pointer) }
            switch code {
            case SQLITE_ROW: return true
            case SQLITE_DONE: return false
            default: throw error(code, sql: sqlite3_sql(statement.pointer).map { String(cString: $0) })
            }
        }

        /// Resets the statement, which ends a transaction of its own, and publishes the changes that are committed with
        /// it.
        @discardableResult
        func end(_ run: Run, hasSucceeded: Bool) -> Int {
            run.statement.reset()
            guard let handle = try? connection.handle else { return 0 }
            let changes = sqlite3_total_changes64(handle) - run.changes
            let hasChangedRows = changes != 0
            let rows = watch.takeRows()
            let committed = tracker.note(
                .init(
                    effects: run.statement.effects, hasChangedRows: hasChangedRows,
                    // A failed statement has undone some of them. There are fewer than were changed if SQLite has
                    // truncated a table.
                    rows: hasSucceeded && rows.count >= changes ? rows.known : nil, hasSucceeded: hasSucceeded,
                    wasInTransaction: run.wasInTransaction, isInTransaction: sqlite3_get_autocommit(handle) == 0),
                rowLimit: watch.rowLimit)
            if !committed.tables.isEmpty { publish(committed) }
            // SQLite's count is still that of an earlier statement.
            return hasChangedRows ? Int(sqlite3_changes64(handle)) : 0
        }
    }
#endif
