#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import StorageSQLiteClient

    extension Database {
        /// A statement between two batches of a stream.
        struct Cursor {
            let run: Run
            let script: SQLScript
        }

        /// Prepares a statement whose rows ``fetch(_:_:)`` returns.
        func openCursor(_ number: Int, for sql: String, _ arguments: Arguments, policy: Policy) throws {
            let script = SQLScript(sql)
            try checkText(sql)
            try watchRows()
            guard let statement = try next(of: script, arguments) else { throw SQLiteClientError.noStatement }
            guard script.isWhole else {
                throw SQLiteClientError(
                    .sql, "A stream of rows was given several statements.", remedy: "Run them one by one.")
            }
            try check(statement, policy)
            guard statement.effects.control == .none else {
                throw SQLiteClientError(
                    .invalidArgument, "A stream of rows was given a statement that begins or ends a transaction.",
                    remedy: "Use `transaction`.")
            }
            cursors[number] = Cursor(run: try begin(statement, arguments), script: script)
        }

        /// The next rows of a stream. After the last one, and after an error, the stream is closed.
        func fetch<Element>(_ number: Int, _ transform: (SQLiteRow) throws -> Element) throws -> (
            rows: [Element], isLast: Bool
        ) {
            guard let cursor = cursors[number] else { throw SQLiteClientError.streamIsOver }
            let statement = cursor.run.statement
            var rows: [Element] = []
            var bytes = 0
            do {
                while rows.count < configuration.maximumRowsPerBatch, bytes < configuration.maximumBytesPerBatch {
                    guard try step(statement) else {
                        closeCursor(number)
                        return (rows, true)
                    }
                    bytes += Self.size(of: statement.pointer)
                    rows.append(try transform(SQLiteRow(statement.row, layout: statement.layout)))
                }
            } catch {
                closeCursor(number, hasSucceeded: false)
                throw error
            }
            return (rows, false)
        }

        func closeCursor(_ number: Int, hasSucceeded: Bool = true) {
            guard let cursor = cursors.removeValue(forKey: number) else { return }
            end(cursor.run, hasSucceeded: hasSucceeded)
            giveBack(cursor.run.statement, cursor.script)
        }

        /// The size of the texts and blobs of a row in bytes.
        private static func size(of statement: OpaquePointer) -> Int {
            (0..<sqlite3_column_count(statement)).reduce(0) { size, column in
                switch sqlite3_column_type(statement, column) {
                case SQLITE_TEXT, SQLITE_BLOB: size + Int(sqlite3_column_bytes(statement, column))
                default: size
                }
            }
        }
    }
#endif
