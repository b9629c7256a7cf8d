#if SQLITE_ENGINE_SQLITENIO
    import Foundation
    import TestSupport
    import StorageSQLiteClient
    import Testing

    @testable import StorageSQLiteNIO

    @Suite(.timeLimit(.minutes(10)))
    struct CancellationTests {
        @Test("An endless query is interrupted")
        func endlessQuery() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            let task = Task { try await connection.query(endless) }
            // Time for SQLite to be in the middle of it.
            try await Task.sleep(for: .milliseconds(30))
            task.cancel()
            await expect(.cancelled) { try await task.value }
            #expect(try await connection.query("SELECT 1", as: Int.self) == [1])
        }

        @Test("A task that was cancelled before runs nothing")
        func alreadyCancelledTask() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.execute("CREATE TABLE t (a)")
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await connection.execute("INSERT INTO t VALUES (1)")
            }
            await expect(.cancelled) { try await task.value }
            #expect(try await connection.query("SELECT * FROM t").isEmpty)
        }

        @Test("A synchronous body is interrupted and undone")
        func cancelledBody() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.execute("CREATE TABLE t (a)")
            let task = Task {
                try await connection.withTransaction { db in
                    try db.execute("INSERT INTO t VALUES (1)")
                    // Tries to go on.
                    _ = try? db.fetchAll(endless, as: Int.self)
                    try db.execute("INSERT INTO t VALUES (2)")
                }
            }
            // Time for SQLite to be in the middle of it.
            try await Task.sleep(for: .milliseconds(30))
            task.cancel()
            await expect(.cancelled) { try await task.value }
            #expect(try await connection.query("SELECT * FROM t").isEmpty)
        }

        @Test("Cancelling one task harms no other")
        func cancellationIsIsolated() async throws {
            try await withThreads { threads in
                let connection = try await SQLiteConnection.open(storage: .memory, threadPool: threads)
                let short =
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT count(*) FROM n"
                for round in 0..<300 {
                    let victim = Task { try await connection.query(round.isMultiple(of: 2) ? endless : short) }
                    let innocents = (0..<3).map { _ in Task { try await connection.query(short, as: Int.self) } }
                    // At another moment each time: before, while, and after it runs.
                    if !round.isMultiple(of: 5) { try await Task.sleep(for: .microseconds(round * 7)) }
                    victim.cancel()
                    _ = await victim.result
                    for innocent in innocents { #expect(try await innocent.value == [3_000]) }
                }
                try await connection.close()
            }
        }

        /// A cancellation between two statements of a job leaves no trace in SQLite, which forgets an interruption when the next
        /// statement begins.
        @Test("A cancellation between two statements isn't lost")
        func cancelledBetweenStatements() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            let (between, isCancelled) = (Gate(), Shared(false))
            let task = Task {
                try await connection.withTransaction { db in
                    between.open()
                    // The cancellation comes here, while no statement runs.
                    while !isCancelled.value { usleep(100) }
                    _ = try db.fetchAll(endless, as: Int.self)
                }
            }
            await between.wait()
            task.cancel()
            isCancelled.update { $0 = true }
            await expect(.cancelled) { try await task.value }
        }

        @Test("A job interrupts only while it runs")
        func jobInterruptsWhileRunning() throws {
            let job = Job()
            job.cancel()
            #expect(job.isCancelled)
            #expect(throws: SQLiteClientError.self) { try job.begin(on: Connection(OpaquePointer(bitPattern: 1)!)) }
            let ended = Job()
            #expect(ended.end())
            // Would crash if it called SQLite, with what isn't a connection.
            ended.cancel()
            #expect(!ended.isCancelled)
        }

        @Test("Waiting for a turn is cancelled at once")
        func cancelledWhileWaiting() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            let (inside, done) = (Gate(), Gate())
            let holder = Task {
                try await connection.transaction { _ in
                    inside.open()
                    await done.wait()
                }
            }
            await inside.wait()
            let waiter = Task { try await connection.query("SELECT 1") }
            try await eventually { connection.scope.waiterCount == 1 }
            waiter.cancel()
            await expect(.cancelled) { try await waiter.value }
            done.open()
            try await holder.value
        }
    }
#endif
