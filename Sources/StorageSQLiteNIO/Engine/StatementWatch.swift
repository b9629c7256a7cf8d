#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import StorageCore

    /// What SQLite calls back into: the authorizer, which says what a statement does, and the progress handler, which
    /// stops a cancelled job.
    ///
    /// Not `Sendable`: the callbacks come on the thread that runs a job, in the midst of SQLite's own calls.
    final class StatementWatch {
        /// The effects of the statement that is being compiled. SQLite compiles again while a statement is stepped, after
        /// the schema has changed.
        var effects = StatementEffects()
        var job: Job?
        /// The tables that are read by what is being compiled, where somebody wants to know.
        var readTables: Set<String>?

        /// Enough instructions of SQLite's machine that asking costs nothing, and few enough that they take well below a
        /// millisecond.
        private static let instructionsBetweenLooks: Int32 = 2_000

        /// The watch must live until the connection is closed.
        func install(on database: OpaquePointer) {
            let context = Unmanaged.passUnretained(self).toOpaque()
            sqlite3_set_authorizer(
                database,
                { context, action, first, second, schema, _ in
                    Unmanaged<StatementWatch>.fromOpaque(context!).takeUnretainedValue()
                        .note(action, first, second, schema)
                    return SQLITE_OK
                }, context)
            sqlite3_progress_handler(
                database, Self.instructionsBetweenLooks,
                { context in
                    let watch = Unmanaged<StatementWatch>.fromOpaque(context!).takeUnretainedValue()
                    return watch.job?.isCancelled == true ? 1 : 0
                }, context)
        }

        /// Runs a call of SQLite that may compile, and adds what it notes to these effects.
        func noting<Result>(into effects: inout StatementEffects, _ body: () throws -> Result) rethrows -> Result {
            // A body that runs another statement comes back here in between.
            let outer = self.effects
            self.effects = effects
            defer {
                effects = self.effects
                self.effects = outer
            }
            return try body()
        }

        private func note(
            _ action: Int32, _ first: UnsafePointer<CChar>?, _ second: UnsafePointer<CChar>?,
            _ schema: UnsafePointer<CChar>?
        ) {
            switch action {
            // Most calls are of these, for each column that a statement names.
            case SQLITE_READ: if readTables != nil { note(reading: first, in: schema) }
            case SQLITE_SELECT, SQLITE_FUNCTION: break
            case SQLITE_INSERT, SQLITE_UPDATE, SQLITE_DELETE: note(table: first, in: schema)
            case SQLITE_CREATE_TABLE, SQLITE_DROP_TABLE, SQLITE_CREATE_VTABLE, SQLITE_DROP_VTABLE:
                effects.changesSchema = true
                note(table: first, in: schema)
            case SQLITE_ALTER_TABLE:
                effects.changesSchema = true
                // Of this action the first text is the schema.
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
            // Of a table of which no column is read, as in count(*), SQLite names the schema only where the statement does.
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
            // What a URI says may depend on how SQLite was built.
            guard let path = name.map({ String(cString: $0) }), !path.hasPrefix("file:") else {
                effects.refusal = .attaches(nil)
                return
            }
            if StoreFile.isStore(path) { effects.refusal = .attaches(path) }
        }
    }

    enum TableName {
        /// SQLite takes two names for one that differ in the case of ASCII letters only.
        static func folded(_ name: String) -> String { name.lowercasedASCII }
    }
#endif
