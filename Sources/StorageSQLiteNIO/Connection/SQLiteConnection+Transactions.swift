#if SQLITE_ENGINE_SQLITENIO
    public import StorageSQLiteClient

    /// What a transaction may do.
    ///
    /// ```swift
    /// try await connection.transaction(.read) { connection in
    ///     try await connection.query("SELECT * FROM users")
    /// }
    /// ```
    public enum SQLiteTransactionKind: Hashable, Sendable {
        /// Reads a single state of the database. Changes throw `read-only`.
        case read
        /// Reads and writes, while no other connection writes.
        case write
    }

    extension SQLiteConnection {
        /// Runs statements as one transaction, which is rolled back if the body throws or its task is cancelled.
        ///
        /// ```swift
        /// try await connection.transaction { connection in
        ///     let id = try await connection.query("SELECT max(id) FROM users", as: Int64?.self)
        ///     try await connection.execute("INSERT INTO log (user) VALUES (?)", [id[0]])
        /// }
        /// ```
        ///
        /// Other tasks wait until the body returns. Inside a transaction's body this is a savepoint: if it throws, only
        /// its changes are rolled back.
        ///
        /// - Parameters:
        ///   - kind: Ignored for a savepoint, which has the kind of its transaction.
        ///   - body: Must use the connection that it receives, and only until it returns. The outer connection would
        ///     wait for the body, so it throws `invalid-argument`.
        /// - Throws: Errors of the body; ``SQLiteClientError``: `busy`, `cancelled`, `closed`, `constraint` if the
        ///   commit violates one.
        @discardableResult
        public func transaction<Result>(
            _ kind: SQLiteTransactionKind = .write, isolation: isolated (any Actor)? = #isolation,
            _ body: (SQLiteConnection) async throws -> Result
        ) async throws -> Result {
            try await scope.enter()
            defer { scope.leave() }
            let transaction = transaction(kind)
            try await engine.begin(transaction)
            let inside = SQLiteConnection(engine, scope: bodyScope(transaction.policy), poller: poller)
            do {
                let result = try await ConnectionScope.$entered.withValue(ConnectionScope.entered + [inside.scope]) {
                    try await body(inside)
                }
                await inside.end()
                if Task.isCancelled { throw SQLiteClientError.cancelled }
                try await engine.commit(transaction)
                return result
            } catch {
                await inside.end()
                await engine.undo(transaction)
                throw error
            }
        }

        /// Runs a transaction with a synchronous body, on a thread of the thread pool.
        ///
        /// It is faster than ``transaction(_:isolation:_:)``: the body doesn't change threads between its statements.
        ///
        /// - Throws: As ``transaction(_:isolation:_:)``.
        @discardableResult
        public func withTransaction<Result: Sendable>(
            _ kind: SQLiteTransactionKind = .write, _ body: @escaping @Sendable (SQLiteTransaction) throws -> Result
        ) async throws -> Result {
            try await scope.enter()
            defer { scope.leave() }
            let transaction = transaction(kind)
            return try await engine.run(transaction) { try EngineConnection.run(on: $0, transaction.policy, body) }
        }

        private func transaction(_ kind: SQLiteTransactionKind) -> ConnectionEngine.Transaction {
            guard scope.isConnection else { return .savepoint(policy) }
            switch kind {
            case .read: return .reading
            case .write: return .writing
            }
        }

        private func bodyScope(_ policy: Database.Policy) -> ConnectionScope {
            ConnectionScope(
                .body(of: scope, policy), pool: scope.pool, maximumWaiters: engine.configuration.maximumWaiters)
        }

        /// Ends the body's scope: waits for statements it has left running, and closes streams it has left open.
        private func end() async {
            await scope.end(waitersMayFinish: false) { await engine.closeCursor($0) }
        }
    }
#endif
