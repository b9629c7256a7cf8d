#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import StorageRecords

    /// SQLite's callbacks: the authorizer, which reports a statement's effects, the progress handler, which stops a
    /// cancelled job, and, while rows are observed, the hook that is called for each of them.
    ///
    /// Not `Sendable`: the callbacks are called on the thread that runs a job, from within SQLite's own functions.
    final class StatementWatch {
        /// The effects of the statement that is being compiled. SQLite recompiles while a statement is stepped, after
        /// the schema has changed.
        var effects = StatementEffects()
        var job: Job?
        /// The tables read by what is being compiled, if requested.
        var readTables: Set<String>?

        /// The maximum number of rows to keep; 0 if none are observed.
        private(set) var rowLimit = 0
        /// The rows that the current statement has changed, and their number.
        private var rows: (known: SQLiteRowUpdates, count: Int64) = (SQLiteRowUpdates(), 0)

        /// Enough of SQLite's instructions that the check costs nothing, and few enough to take well below a
        /// millisecond.
        private static let instructionsBetweenChecks: Int32 = 2_000

        /// The watch must live until the connection is closed.
        func install(on connection: Connection) {
            rowLimit = 0
            let context = Unmanaged.passUnretained(self).toOpaque()
            sqlite3_set_authorizer(
                connection.handle,
                { context, action, first, second, schema, _ in
                    Unmanaged<StatementWatch>.fromOpaque(context!).takeUnretainedValue()
                        .note(action: action, first: first, second: second, schema: schema)
                    return SQLITE_OK
                }, context)
            sqlite3_progress_handler(
                connection.handle, Self.instructionsBetweenChecks,
                { context in
                    let watch = Unmanaged<StatementWatch>.fromOpaque(context!).takeUnretainedValue()
                    return watch.job?.isCancelled == true ? 1 : 0
                }, context)
        }

        /// Enables or disables reports for each changed row.
        ///
        /// Doesn't use the update hook, which isn't called for rows that a conflict replaces, and only receives the new
        /// rowid.
        func watchRows(limit: Int, on connection: Connection) {
            if limit == 0 {
                sqlite3_preupdate_hook(connection.handle, nil, nil)
            } else if rowLimit == 0 {
                sqlite3_preupdate_hook(
                    connection.handle,
                    { context, _, operation, schema, table, old, new in
                        Unmanaged<StatementWatch>.fromOpaque(context!).takeUnretainedValue()
                            .note(operation: operation, schema: schema, table: table, old: old, new: new)
                    }, Unmanaged.passUnretained(self).toOpaque())
            }
            rowLimit = limit
        }

        private func note(
            operation: Int32, schema: UnsafePointer<CChar>?, table: UnsafePointer<CChar>?, old: Int64, new: Int64
        ) {
            rows.count += 1
            guard let schema, String(cString: schema) == "main", let table else { return }
            let name = TableName.folded(String(cString: table))
            func add(_ kind: SQLiteRowUpdates.Row.Kind, _ rowID: Int64) {
                rows.known.add(.init(kind, table: name, rowID: rowID), limit: rowLimit)
            }
            switch operation {
            case SQLITE_INSERT: add(.insert, new)
            case SQLITE_DELETE: add(.delete, old)
            case _ where old == new: add(.update, new)
            default:
                add(.delete, old)
                add(.insert, new)
            }
        }

        /// The rows that were changed since the last call.
        func takeRows() -> (known: SQLiteRowUpdates, count: Int64) {
            defer { rows = (SQLiteRowUpdates(), 0) }
            return rows
        }

        /// Runs a call of SQLite that may compile, and adds the recorded effects.
        func noting<Result>(into effects: inout StatementEffects, _ body: () throws -> Result) rethrows -> Result {
            // A body that runs another statement reenters this function.
            let outer = self.effects
            self.effects = effects
            defer {
                effects = self.effects
                self.effects = outer
            }
            return try body()
        }

        private func note(
            action: Int32, first: UnsafePointer<CChar>?, second: UnsafePointer<CChar>?, schema: UnsafePointer<CChar>?
        ) {
            switch action {
            // Most calls are of these kinds, for each column that a statement names.
            case SQLITE_READ: if readTables != nil { note(reading: first, in: schema) }
            case SQLITE_SELECT, SQLITE_FUNCTION: break
            case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE: note(table: first, in: schema)
            case SQLITE_CREATE_TABLE, SQLITE_DROP_TABLE, SQLITE_CREATE_VTABLE, SQLITE_DROP_VTABLE:
                effects.changesSchema = true
                note(table: first, in: schema)
            case SQLITE_ALTER_TABLE:
                effects.changesSchema = true
                // For this action the first text is the schema.
                note(table: second, in: first)
            case SQLITE_CREATE_INDEX, SQLITE_DROP_INDEX, SQLITE_CREATE_TRIGGER, SQLITE_DROP_TRIGGER, SQLITE_CREATE_VIEW,
                SQLITE_DROP_VIEW:
                effects.changesSchema = true
            case SQLITE_TRANSACTION: note(transaction: first)
            case SQLITE_SAVEPOINT: note(savepoint: first, name: second)
            case SQLITE_ATTACH: note(attaching: first)
            default: break
            }
        }

        private func note(table: UnsafePointer<CChar>?, in schema: UnsafePointer<CChar>?) {
            guard let table, let schema, String(cString: schema) == "main" else { return }
            let name = String(cString: table)
            if !name.hasPrefix("sqlite_") { effects.tables.insert(TableName.folded(name)) }
        }

        private func note(reading table: UnsafePointer<CChar>?, in schema: UnsafePointer<CChar>?) {
            // For a table without read columns, as in count(*), SQLite names the schema only if the statement does.
            guard let table, schema.map({ String(cString: $0) == "main" }) ?? true else { return }
            readTables?.insert(TableName.folded(String(cString: table)))
        }

        private func note(transaction operation: UnsafePointer<CChar>?) {
            switch operation.map({ String(cString: $0) }) {
            case "BEGIN": effects.control = .begin
            case "COMMIT": effects.control = .commit
            default: effects.control = .rollback
            }
        }

        private func note(savepoint operation: UnsafePointer<CChar>?, name: UnsafePointer<CChar>?) {
            guard let operation, let name else { return }
            let folded = TableName.folded(String(cString: name))
            switch String(cString: operation) {
            case "BEGIN": effects.control = .savepoint(folded)
            case "RELEASE": effects.control = .release(folded)
            default: effects.control = .rollbackTo(folded)
            }
        }

        private func note(attaching name: UnsafePointer<CChar>?) {
            // The meaning of a URI may depend on how SQLite was built.
            guard let path = name.map({ String(cString: $0) }), !path.hasPrefix("file:") else {
                effects.refusal = .attaches(nil)
                return
            }
            if StoreFile.isStore(path) { effects.refusal = .attaches(path) }
        }
    }
#endif
