#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import StorageCore
    internal import StorageRecords
    internal import StorageSQLiteClient

    extension Database {
        func checkText(_ sql: String) throws {
            if sql.utf8.contains(0) {
                throw SQLiteClientError(
                    .sql, "The statement's text contains NUL, at which SQLite would end it.",
                    remedy: "Give values as arguments.")
            }
        }

        func check(_ statement: CompiledStatement, _ policy: Policy) throws {
            if case .attaches(let path) = statement.effects.refusal { throw SQLiteClientError.attaching(path) }
            guard policy == .inWriting || policy == .inReading else { return }
            if statement.effects.controlsTransaction {
                throw SQLiteClientError(
                    .invalidArgument, "A statement in a transaction's body begins or ends a transaction.",
                    remedy:
                        "Return from the body to commit, throw to roll back, and use `transaction` or `savepoint` inside."
                )
            }
            if try !isInTransaction { throw SQLiteClientError.transactionIsOver }
            // Not `PRAGMA query_only`, after which SQLite recompiles every statement.
            if policy == .inReading, sqlite3_stmt_readonly(statement.pointer) == 0 {
                throw SQLiteClientError.bodyOnlyReads
            }
        }

        /// The script's next statement, from the cache if it is the only one; nil at the end.
        func next(of script: SQLScript, _ arguments: Arguments) throws -> CompiledStatement? {
            if script.isAtStart, let cached = cache.value(for: ExactText(script.text)) {
                // Not cached while in use, so that no other call finds it.
                cache.remove(ExactText(script.text))
                script.comeTo(count: script.utf8Count, isWhole: true)
                return cached
            }
            while !script.isAtEnd {
                let (statement, count) = try prepare(script)
                guard let statement else {
                    script.skip(count)
                    continue
                }
                script.comeTo(count: count, isWhole: script.isAtStart && script.isBlank(after: count))
                if arguments.count > 0, script.statementCount > 0 || !script.isBlank(after: count) {
                    throw SQLiteClientError.severalStatementsWithArguments
                }
                return statement
            }
            return nil
        }

        /// - Returns: The statement, or nil for a comment, and the size of its text in bytes.
        private func prepare(_ script: SQLScript) throws -> (CompiledStatement?, Int) {
            let handle = try connection.handle
            var effects = StatementEffects()
            var pointer: OpaquePointer?
            let (code, count) = watch.noting(into: &effects) {
                script.withRemainder { start, size -> (Int32, Int) in
                    var tail: UnsafePointer<CChar>?
                    let flags = script.isAtStart ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
                    let code = sqlite3_prepare_v3(handle, start, Int32(clamping: size), flags, &pointer, &tail)
                    return (code, tail.map { $0 - start } ?? size)
                }
            }
            guard code == SQLITE_OK else { throw error(code, sql: script.text) }
            return (pointer.map { CompiledStatement($0, effects) }, count)
        }

        /// The tables that statements read, their names in lower case, without running them.
        func tables(readBy sql: String) throws -> Set<String> {
            try checkText(sql)
            watch.readTables = []
            defer { watch.readTables = nil }
            let script = SQLScript(sql)
            while !script.isAtEnd { script.skip(try prepare(script).1) }
            return watch.readTables ?? []
        }

        func giveBack(_ statement: CompiledStatement, _ script: SQLScript) {
            statement.reset()
            if script.isWhole, script.utf8Count <= Self.longestCachedText {
                cache.set(statement, for: ExactText(script.text))
            }
        }
    }
#endif
