#if SQLITE_ENGINE_SQLITENIO
    internal import StorageSQLiteClient

    /// The rows of a query, read on demand.
    ///
    /// ```swift
    /// for try await row in connection.rows("SELECT id, name FROM users") {
    ///     print(try row.value(Int64.self, "id"))
    /// }
    /// ```
    ///
    /// The next batch is read when the last one is used up, so memory holds one batch, briefly two
    /// (`maximumRowsPerBatch`, `maximumBytesPerBatch`), however large the result is. Each iterator runs the query
    /// again.
    ///
    /// - The stream holds the connection from its first row to its end: other tasks wait for it, and a call on the same
    ///   connection by the reading task is refused with `invalid-argument`, since it would wait for itself.
    /// - It ends after the last row or an error, when the task is cancelled, or when the iterator is released, for
    ///   example by leaving the loop. Closing the connection, or the end of the enclosing transaction, ends it with an
    ///   error.
    /// - All rows are from the same state, as of the first read.
    public struct SQLiteRowSequence<Element: Sendable>: AsyncSequence, Sendable {
        public typealias Failure = any Error

        let connection: SQLiteConnection
        let sql: String
        let arguments: Arguments
        /// Runs on the thread that steps the statement.
        let transform: @Sendable (SQLiteRow) throws -> Element

        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(sequence: self) }

        public struct AsyncIterator: AsyncIteratorProtocol {
            private enum State {
                case unstarted
                /// The statement is positioned before the remaining rows.
                case open(OpenStream)
                case ended
            }

            private let sequence: SQLiteRowSequence
            private var state = State.unstarted
            private var batch: [Element] = []
            /// The index of the next row in the batch.
            private var index = 0

            fileprivate init(sequence: SQLiteRowSequence) { self.sequence = sequence }

            /// Returns the next row; nil after the last one.
            ///
            /// - Throws: ``SQLiteClientError``: `cancelled`, `closed`, `busy`, `sql`; errors of decoding a row. After
            ///   an error there are no more rows.
            public mutating func next() async throws -> Element? {
                while true {
                    if Task.isCancelled { try cancel() }
                    if index < batch.count {
                        defer { index += 1 }
                        return batch[index]
                    }
                    // Released before the next batch is created.
                    batch = []
                    let transform = sequence.transform
                    switch state {
                    case .unstarted:
                        let stream = OpenStream(sequence.connection)
                        let (sql, arguments) = (sequence.sql, sequence.arguments)
                        try await fetch(stream) { try await stream.begin(sql, arguments, transform: transform) }
                    case .open(let stream): try await fetch(stream) { try await stream.next(transform) }
                    case .ended: return nil
                    }
                }
            }

            private mutating func fetch(
                _ stream: OpenStream, _ body: () async throws -> (rows: [Element], isLast: Bool)
            ) async throws {
                state = .ended
                let (rows, isLast) = try await body()
                (batch, index) = (rows, 0)
                if !isLast { state = .open(stream) }
            }

            /// Closes an open stream; a finished one still returns its remaining rows.
            private mutating func cancel() throws {
                guard case .open = state else { return }
                (state, batch, index) = (.ended, [], 0)
                throw SQLiteClientError.cancelled
            }
        }
    }

    /// The statement of a stream of rows, and its claim on the connection. Releasing it ends both.
    ///
    /// Isolation: `Sendable`, immutable; the scope manages the claim.
    final class OpenStream: Sendable {
        private let connection: SQLiteConnection
        private let number: Int

        init(_ connection: SQLiteConnection) {
            self.connection = connection
            number = connection.engine.makeNumber()
        }

        deinit {
            let (scope, number) = (connection.scope, number)
            guard scope.abandon(stream: number) else { return }
            // The turn is returned after the statement is reset. The closure retains the scope, and the engine its
            // database.
            connection.engine.closeCursorSoon(number) { scope.streamEnded(number) }
        }

        typealias Batch<Element> = (rows: [Element], isLast: Bool)

        func begin<Element: Sendable>(
            _ sql: String, _ arguments: Arguments,
            transform: @escaping @Sendable (SQLiteRow) throws -> Element
        ) async throws -> Batch<Element> {
            try await connection.scope.enter(stream: number)
            let (engine, number) = (connection.engine, number)
            let policy = connection.policy
            return try await settle {
                try await engine.waitingWhileBusy {
                    try await engine.run { database in
                        if policy == .autocommit { try database.refresh() }
                        try database.openCursor(number, for: sql, arguments, policy: policy)
                        let batch = try database.fetch(number, transform)
                        return try Self.checked(batch, of: number, in: database, resultCode: 5)
                    }
                }
            }
        }

        func next<Element: Sendable>(_ transform: @escaping @Sendable (SQLiteRow) throws -> Element) async throws
            -> Batch<Element>
        {
            guard connection.scope.resume(stream: number) else { throw SQLiteClientError.streamIsOver }
            let (engine, number) = (connection.engine, number)
            return try await settle {
                try await engine.run { database in
                    try Self.checked(
                        try database.fetch(number, transform), of: number, in: database, resultCode: nil)
                }
            }
        }

        /// Rows of a store that was disturbed meanwhile may be of two states.
        private static func checked<Element>(
            _ batch: Batch<Element>, of number: Int, in database: Database, resultCode: Int32?
        ) throws -> Batch<Element> {
            guard database.isDisturbed else { return batch }
            database.closeCursor(number)
            throw SQLiteClientError.disturbed(resultCode: resultCode)
        }

        /// Keeps or returns the turn after a batch.
        private func settle<Element>(_ fetch: () async throws -> Batch<Element>) async throws -> Batch<Element> {
            let (scope, engine) = (connection.scope, connection.engine)
            do {
                let batch = try await fetch()
                if batch.isLast {
                    scope.streamEnded(number)
                } else if !scope.pause(stream: number) {
                    await engine.closeCursor(number)
                    scope.streamEnded(number)
                }
                return batch
            } catch {
                // A job that was cancelled before it ran leaves the statement as it was.
                await engine.closeCursor(number)
                scope.streamEnded(number)
                throw error
            }
        }
    }
#endif
