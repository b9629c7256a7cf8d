#if SQLITE_ENGINE_SQLITENIO
    internal import StorageSQLiteClient
    internal import Synchronization

    /// An open connection: sends jobs to the thread pool, waits while SQLite is busy, and begins and ends transactions.
    ///
    /// Callers must have the turn of the scope that the work belongs to, so jobs run one at a time.
    ///
    /// Isolation: `Sendable`, immutable except for its members.
    final class ConnectionEngine: Sendable {
        private let database: Database
        private let thread: EngineThread
        let configuration: SQLiteConnectionConfiguration
        let storage: SQLiteStorage
        let observation: TableObservation
        private let nextNumber = Atomic<Int>(0)
        /// Closing, once it has begun.
        private let closing = Mutex<Task<Void, Never>?>(nil)

        init(storage: SQLiteStorage, configuration: SQLiteConnectionConfiguration, thread: EngineThread) {
            let observation = TableObservation()
            self.storage = storage
            self.configuration = configuration
            self.thread = thread
            self.observation = observation
            database = Database(storage: storage, configuration: configuration, observation: observation)
        }

        /// Closes the connection if that hasn't happened yet. Running jobs retain the engine, so there are none.
        deinit {
            guard observation.isOpen else { return }
            let database = database
            thread.runInAnyCase { database.close() }
            observation.end()
        }

        /// A number that no other stream of this connection has.
        func makeNumber() -> Int { nextNumber.wrappingAdd(1, ordering: .relaxed).newValue }

        func open() async throws {
            let database = database
            try await waitingWhileBusy { try await self.thread.run { try database.open() } }
        }

        /// Closes the connection once it is no longer in use. Several tasks may call it at once: it is closed once, and all return afterwards.
        func close() async {
            let task = closing.withLock { closing in
                if let closing { return closing }
                let task = Task { [database, thread, observation] in
                    await thread.runInAnyCase { database.close() }
                    observation.end()
                }
                closing = task
                return task
            }
            await task.value
        }
    }

    // MARK: Jobs

    extension ConnectionEngine {
        /// Runs a job, which is interrupted when the task is cancelled.
        func run<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws -> Result {
            let job = Job()
            let database = database
            return try await withTaskCancellationHandler {
                try await thread.run { try database.run(job, body) }
            } onCancel: {
                job.cancel()
            }
        }

        /// Runs a job that must complete, even if the task is cancelled.
        func runToTheEnd<Result: Sendable>(_ body: @escaping @Sendable (Database) throws -> Result) async throws
            -> Result
        {
            let database = database
            return try await thread.run { try body(database) }
        }

        /// Retries while another connection holds a lock, up to the busy timeout. It doesn't wait on the thread pool:
        /// the lock's owner may need the same threads to release it.
        func waitingWhileBusy<Result: Sendable>(_ body: () async throws -> Result) async throws -> Result {
            let deadline = ContinuousClock.now + configuration.busyTimeout
            var delay = Duration.milliseconds(1)
            while true {
                do { return try await body() } catch let error as SQLiteClientError where error.isWorthWaiting {
                    guard ContinuousClock.now + delay <= deadline else { throw error }
                    do { try await Task.sleep(for: delay) } catch { throw SQLiteClientError.cancelled }
                    delay = min(delay * 2, .milliseconds(25))
                }
            }
        }

        /// Runs statements that are a transaction of their own.
        func runAutocommitted<Result: Sendable>(
            _ script: SQLScript, _ body: @escaping @Sendable (Database) throws -> Result
        ) async throws -> Result {
            // The inner result isn't retried: a script continues at the statement that was busy, which can't be in a
            // transaction that was rolled back.
            let result = try await waitingWhileBusy {
                try await self.run { database -> Swift.Result<Result, any Error> in
                    try database.refresh()
                    let result = Swift.Result { try body(database) }
                    if database.isDisturbed {
                        script.rewind()
                        throw SQLiteClientError.disturbed(resultCode: 5)
                    }
                    guard try database.isInTransaction else { return .success(try result.get()) }
                    // No transaction may stay open that other tasks' statements would join.
                    try database.execute("ROLLBACK", .none, policy: .owner)
                    return result.flatMap { _ in .failure(SQLiteClientError.leftTransactionOpen) }
                }
            }
            return try result.get()
        }

        /// Ends a stream of rows without waiting, then calls back.
        func closeCursorSoon(_ number: Int, _ then: @escaping @Sendable () -> Void) {
            thread.runInAnyCase {
                // Retains the engine, which closes the database when it is released.
                self.database.closeCursor(number)
                then()
            }
        }

        func closeCursor(_ number: Int) async {
            let database = database
            await thread.runInAnyCase { database.closeCursor(number) }
        }
    }

    // MARK: Transactions

    extension ConnectionEngine {
        /// How a transaction, or a savepoint, begins and ends.
        enum Transaction: Sendable {
            case reading
            case writing
            /// Savepoints nest, so one name is enough.
            case savepoint(Database.Policy)

            /// What the statements of its body may do.
            var policy: Database.Policy {
                switch self {
                case .reading: .inReading
                case .writing: .inWriting
                case .savepoint(let policy): policy
                }
            }

            fileprivate func begin(_ database: Database) throws {
                switch self {
                case .reading:
                    try database.refresh()
                    do {
                        try database.execute("BEGIN", .none, policy: .owner)
                        // SQLite starts reading with the first statement that does.
                        try database.execute("SELECT 1 FROM sqlite_schema LIMIT 1", .none, policy: .owner)
                    } catch {
                        Self.undo(self, database)
                        throw error
                    }
                case .writing:
                    if let store = database.store {
                        throw SQLiteClientError.store(at: store.path, refusing: "a writing transaction")
                    }
                    // SQLite would begin a reading transaction.
                    if try database.isReadOnly { throw SQLiteClientError.connectionOnlyReads }
                    try database.execute("BEGIN IMMEDIATE", .none, policy: .owner)
                case .savepoint(let policy): try database.execute("SAVEPOINT storage_nio", .none, policy: policy)
                }
            }

            fileprivate func commit(_ database: Database) throws {
                guard try database.isInTransaction else { throw SQLiteClientError.transactionIsOver }
                switch self {
                case .reading:
                    if database.isDisturbed { throw SQLiteClientError.disturbed(resultCode: nil) }
                    try database.execute("COMMIT", .none, policy: .owner)
                case .writing: try database.execute("COMMIT", .none, policy: .owner)
                case .savepoint(let policy): try database.execute("RELEASE storage_nio", .none, policy: policy)
                }
            }

            /// Errors are ignored: SQLite has already ended the transaction, or closing the connection will.
            fileprivate static func undo(_ transaction: Transaction, _ database: Database) {
                guard (try? database.isInTransaction) == true else { return }
                switch transaction {
                case .reading, .writing: _ = try? database.execute("ROLLBACK", .none, policy: .owner)
                case .savepoint(let policy):
                    _ = try? database.execute("ROLLBACK TO storage_nio; RELEASE storage_nio", .none, policy: policy)
                }
            }
        }

        func begin(_ transaction: Transaction) async throws {
            try await waitingWhileBusy { try await self.run { try transaction.begin($0) } }
        }

        /// Commits. Cancellation during the commit has no effect.
        func commit(_ transaction: Transaction) async throws {
            try await waitingWhileBusy { try await self.runToTheEnd { try transaction.commit($0) } }
        }

        /// Rolls it back; errors are ignored.
        func undo(_ transaction: Transaction) async {
            _ = try? await runToTheEnd { Transaction.undo(transaction, $0) }
        }

        private enum Outcome<Result: Sendable>: Sendable {
            case done(Result)
            /// Everything but the commit is done, which must wait for a reader.
            case commitIsBusy(Result)
            /// Not thrown, because the body must not run again, whatever its error is.
            case failed(any Error)
        }

        /// Runs a whole transaction in one job: its body never waits for anything but SQLite.
        func run<Result: Sendable>(
            _ transaction: Transaction, _ body: @escaping @Sendable (Database) throws -> Result
        ) async throws -> Result {
            let timeout = configuration.busyTimeout
            let outcome = try await waitingWhileBusy {
                try await self.run { database in
                    try transaction.begin(database)
                    return Self.finish(transaction, in: database, busyTimeout: timeout, body)
                }
            }
            switch outcome {
            case .done(let result): return result
            case .failed(let error): throw error
            case .commitIsBusy(let result):
                do { try await commit(transaction) } catch {
                    await undo(transaction)
                    throw error
                }
                return result
            }
        }

        private static func finish<Result: Sendable>(
            _ transaction: Transaction, in database: Database, busyTimeout timeout: Duration,
            _ body: (Database) throws -> Result
        ) -> Outcome<Result> {
            do {
                let result: Result
                do {
                    try database.setBlockingBusyTimeout(timeout)
                    defer { try? database.setBlockingBusyTimeout(.zero) }
                    result = try body(database)
                }
                // From here on cancellation interrupts neither the commit nor the rollback.
                guard database.endJob() else { throw SQLiteClientError.cancelled }
                do { try transaction.commit(database) } catch let error as SQLiteClientError where error.isWorthWaiting
                {
                    return .commitIsBusy(result)
                }
                return .done(result)
            } catch {
                database.endJob()
                Transaction.undo(transaction, database)
                return .failed(error)
            }
        }
    }
#endif
