#if SQLITE_ENGINE_GRDB
    internal import CSQLite
    public import GRDB
    internal import StorageCore
    internal import StorageRecords

    /// GRDB's connection as an engine of ``SQLiteTransaction``. Statements are GRDB's, so that its observations see
    /// them.
    struct GRDBConnection: SQLiteEngineConnection {
        let database: Database

        var lastInsertedRowID: Int64 { database.lastInsertedRowID }

        func run(_ sql: String, _ arguments: [StorageValue], onRow body: (SQLiteRow) throws -> Bool) throws -> Int {
            do {
                guard arguments.isEmpty else { return try run(try statement(sql), arguments, onRow: body) }
                let statements = try database.allStatements(sql: sql)
                var changes = 0
                while let statement = try statements.next() { changes = try run(statement, arguments, onRow: body) }
                return changes
            } catch let error as DatabaseError {
                throw SQLiteClientError(error, sql: sql)
            }
        }

        /// A cached statement, unless it is currently executing.
        private func statement(_ sql: String) throws -> GRDB.Statement {
            let cached = try database.cachedStatement(sql: sql)
            guard sqlite3_stmt_busy(cached.sqliteStatement) != 0 else { return cached }
            return try database.makeStatement(sql: sql)
        }

        private func run(
            _ statement: GRDB.Statement, _ arguments: [StorageValue], onRow body: (SQLiteRow) throws -> Bool
        ) throws -> Int {
            try check(statement, arguments)
            let changes = database.totalChangesCount
            try step(statement, try bound(arguments), onRow: body)
            // SQLite's count is still that of an earlier statement.
            return database.totalChangesCount == changes ? 0 : database.changesCount
        }

        private func step(
            _ statement: GRDB.Statement, _ arguments: StatementArguments, onRow body: (SQLiteRow) throws -> Bool
        ) throws {
            guard statement.columnCount > 0 else { return try statement.execute(arguments: arguments) }
            let layout = SQLiteRowLayout(names: statement.columnNames)
            let rows = try Row.fetchCursor(statement, arguments: arguments)
            while try rows.next() != nil {
                guard try body(SQLiteRow(RowReader(statement: statement.sqliteStatement), layout: layout)) else {
                    break
                }
            }
        }

        func tables(readBy sql: String?) throws -> Set<String> {
            do {
                guard let sql else { return Set(try allTables()) }
                let statements = try database.allStatements(sql: sql)
                var region = DatabaseRegion()
                while let statement = try statements.next() { region.formUnion(statement.databaseRegion) }
                return try tables(in: region)
            } catch let error as DatabaseError {
                throw SQLiteClientError(error, sql: sql)
            }
        }

        /// The tables of a region of GRDB's observations.
        func tables(in region: DatabaseRegion) throws -> Set<String> {
            Set(try allTables().filter { region.isModified(byEventsOfKind: .insert(tableName: $0)) })
        }

        private func allTables() throws -> [String] {
            try String.fetchAll(
                database,
                sql: """
                    SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
                    """)
        }

        private func check(_ statement: GRDB.Statement, _ arguments: [StorageValue]) throws {
            let count = Int(sqlite3_bind_parameter_count(statement.sqliteStatement))
            guard count == arguments.count else {
                throw SQLiteClientError.wrongCount(arguments.count, of: count, sql: statement.sql)
            }
        }

        /// - Throws: `invalidValue` for NaN, which SQLite would turn into NULL.
        private func bound(_ arguments: [StorageValue]) throws -> StatementArguments {
            StatementArguments(
                try arguments.enumerated().map { index, value -> DatabaseValue in
                    switch value {
                    case .null: return .null
                    case .integer(let value): return value.databaseValue
                    case .real(let value):
                        if value.isNaN { throw StorageError.notStorable("NaN", in: "parameter \(index + 1)") }
                        return value.databaseValue
                    case .text(let value): return value.databaseValue
                    case .blob(let value): return value.databaseValue
                    }
                })
        }
    }

    extension SQLiteTransaction {
        /// Creates the transaction of a GRDB connection.
        public init(_ database: Database) { self.init(GRDBConnection(database: database)) }

        /// GRDB's own connection, for its records and requests.
        ///
        /// - Throws: ``SQLiteClientError`` with `invalid-argument` if another engine runs the body.
        public var database: Database {
            get throws {
                let engine = (connection as? TrackingConnection)?.passed() ?? connection
                guard let connection = engine as? GRDBConnection else {
                    throw SQLiteClientError(
                        .invalidArgument, "This transaction doesn't belong to GRDB.",
                        remedy: "Use its own methods, or a client created by `SQLiteClient.grdb(_:)`.")
                }
                return connection.database
            }
        }
    }

    extension SQLiteClientError {
        init(_ error: DatabaseError, sql: String?) {
            // GRDB's own error, identifiable only by its message.
            if error.resultCode == .SQLITE_MISUSE, error.message == "Connection is closed" {
                self = .closed(cause: error)
                return
            }
            self = .sqlite(
                error.extendedResultCode.rawValue, error.message ?? "no message", sql: sql ?? error.sql, cause: error)
        }
    }
#endif
