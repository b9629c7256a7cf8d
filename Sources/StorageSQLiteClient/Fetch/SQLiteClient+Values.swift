internal import StorageCore

extension SQLiteClient {
    /// Returns the results of a reading body: now, and after each commit that changes a table it has read.
    ///
    /// ```swift
    /// let counts = client.values { db in try db.fetchOne("SELECT count(*) FROM users", as: Int.self) ?? 0 }
    /// for await count in counts { show(count) }
    /// ```
    ///
    /// The tables are determined from the body's statements each time it runs; a body that reads through `db.database`
    /// runs after each commit. A slow reader receives the latest value only. An error doesn't end the stream: the body
    /// runs again after a second at most.
    ///
    /// - Parameter onError: Called with the reason when there is no new value.
    public func values<Value: Sendable>(
        onError: @escaping @Sendable (any Error) -> Void = { _ in },
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) -> AsyncStream<Value> {
        AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
            let task = HeldTransaction.outside {
                Task {
                    await follow(body) {
                        { result in
                            switch result {
                            case .success(let value): continuation.yield(value)
                            case .failure(let error): onError(error)
                            }
                        }
                    }
                    continuation.finish()
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }

    /// Runs a reading body now and after each change of what it reads, until the task is cancelled or the database is
    /// closed.
    ///
    /// - Parameter reading: Called before each read; the closure it returns is called with the result.
    func follow<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value,
        _ reading: @Sendable () -> @Sendable (Result<Value, any Error>) -> Void
    ) async {
        var delay = RetryDelay()
        while !Task.isCancelled {
            var emit = reading()
            do {
                // The tables that it reads are known once it has run; commits before they are observed become visible
                // in the second run.
                let (_, tables) = try await tracked(body)
                var changes = try await observing(tables).makeAsyncIterator()
                while true {
                    emit = reading()
                    let (value, read) = try await tracked(body)
                    emit(.success(value))
                    delay = RetryDelay()
                    // Otherwise it needs other tables now.
                    guard read.isSubset(of: tables) else { break }
                    // At the end the database was closed, or the task is cancelled.
                    guard try await changes.next() != nil else { return }
                }
            } catch is CancellationError {
                return
            } catch {
                if Task.isCancelled { return }
                emit(.failure(error))
                if (error as? SQLiteClientError)?.code == .closed { return }
                if (error as? StorageError)?.code == .closed { return }
                // Briefly, because the tables aren't observed meanwhile.
                try? await Task.sleep(for: .seconds(min(delay.next(), 1)))
            }
        }
    }

    private func tracked<Value: Sendable>(
        _ body: @escaping @Sendable (SQLiteTransaction) throws -> Value
    ) async throws -> (Value, Set<String>) {
        try await read { db in
            let tracking = TrackingConnection(db.connection)
            let value = try body(SQLiteTransaction(tracking))
            return (value, try tracking.tables())
        }
    }
}
