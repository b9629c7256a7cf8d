#if SQLITE_ENGINE_SQLITENIO
    internal import StorageCore
    internal import StorageSQLiteClient

    /// The connection of the body of a ``SQLiteTransaction``, on the thread that runs the body.
    final class EngineConnection: SQLiteEngineConnection {
        private enum State {
            case open(Database)
            case ended
        }

        private var state: State
        private let policy: Database.Policy

        init(_ database: Database, _ policy: Database.Policy) {
            state = .open(database)
            self.policy = policy
        }

        /// Runs a body that may use a connection until it returns.
        static func run<Result>(
            on database: Database, _ policy: Database.Policy, _ body: (SQLiteTransaction) throws -> Result
        ) rethrows -> Result {
            let connection = EngineConnection(database, policy)
            defer { connection.state = .ended }
            return try body(SQLiteTransaction(connection))
        }

        private var database: Database {
            get throws(SQLiteClientError) {
                guard case .open(let database) = state else { throw .bodyIsOver }
                return database
            }
        }

        func run(_ sql: String, _ arguments: [StorageValue], onRow body: (SQLiteRow) throws -> Bool) throws -> Int {
            try database.execute(sql, .values(arguments), policy: policy, onRow: body)
        }

        func tables(readBy sql: String?) throws -> Set<String> {
            if let sql { return try database.tables(readBy: sql) }
            var tables: Set<String> = []
            let all = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'"
            try database.execute(all, .none, policy: policy) { row in
                tables.insert(try row.value(String.self, at: 0))
                return true
            }
            return tables
        }

        var lastInsertedRowID: Int64 { (try? database.lastInsertedRowID) ?? 0 }
    }
#endif
