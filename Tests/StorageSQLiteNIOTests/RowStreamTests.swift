#if SQLITE_ENGINE_SQLITENIO
    import NIOPosix
    import TestSupport
    import StorageCore
    import StorageSQLiteClient
    import Synchronization
    import Testing

    @testable import StorageSQLiteNIO

    struct RowStreamTests {
        private let numbers =
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) SELECT i FROM n"

        private func cursors(_ connection: SQLiteConnection) async throws -> Int {
            try await connection.engine.run { $0.openCursorCount }
        }

        @Test("Large results arrive in order and in batches")
        func largeResults() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            var expected = 0
            for try await row in connection.rows(numbers, [100_000]) {
                expected += 1
                if row[0] != .integer(Int64(expected)) { Issue.record("row \(expected) is \(row)") }
            }
            #expect(expected == 100_000)
            #expect(try await cursors(connection) == 0)
        }

        private struct Number: Decodable, Sendable { var i: Int }

        /// Counts the rows that were made and not yet let go of.
        private final class Living: Sendable {
            static let count = Atomic<Int>(0)
            static let most = Atomic<Int>(0)

            init() {
                let count = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
                Self.most.max(count, ordering: .relaxed)
            }

            deinit { Self.count.wrappingSubtract(1, ordering: .relaxed) }
        }

        @Test("Memory holds no more than two batches")
        func memoryOfTwoBatches() async throws {
            var configuration = SQLiteConnectionConfiguration()
            configuration.maximumRowsPerBatch = 50
            // With more threads, one that is preempted may hold a batch that is done with.
            try await withThreads(2) { threads in
                let connection = try await SQLiteConnection.open(
                    storage: .memory, configuration: configuration, threadPool: threads)
                let stepped = Atomic<Int>(0)
                let rows = SQLiteRowSequence(connection: connection, sql: numbers, arguments: .columns([100_000])) {
                    _ in
                    stepped.wrappingAdd(1, ordering: .relaxed)
                    return Living()
                }
                var read = 0
                for try await _ in rows {
                    read += 1
                    // Nothing is stepped before it is asked for.
                    let ahead = stepped.load(ordering: .relaxed) - read
                    if ahead >= 50 { Issue.record("\(ahead) rows ahead") }
                }
                #expect(read == 100_000)
                // The thread that made a batch may let go of it a moment after the reader.
                #expect(Living.most.load(ordering: .relaxed) <= 101)
                try await connection.close()
            }
        }

        @Test("Bytes end a batch")
        func batchSizeInBytes() async throws {
            var configuration = SQLiteConnectionConfiguration()
            configuration.maximumBytesPerBatch = 10_000
            let connection = try await SQLiteConnection.open(storage: .memory, configuration: configuration)
            let stepped = Atomic<Int>(0)
            let rows = SQLiteRowSequence(
                connection: connection,
                sql:
                    "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) SELECT zeroblob(4000) FROM n",
                arguments: .none
            ) { _ in
                stepped.wrappingAdd(1, ordering: .relaxed)
                return 0
            }
            var iterator = rows.makeAsyncIterator()
            _ = try await iterator.next()
            #expect(stepped.load(ordering: .relaxed) == 3)
        }

        @Test("An abandoned stream releases the connection")
        func abandonedStream() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            for try await _ in connection.rows(numbers, [1_000_000]) { break }
            #expect(try await connection.query("SELECT 1", as: Int.self) == [1])
            #expect(try await cursors(connection) == 0)
            // Never read at all.
            _ = connection.rows(endless).makeAsyncIterator()
            #expect(try await connection.query("SELECT 1", as: Int.self) == [1])
        }

        @Test("Others wait for a stream")
        func othersWaitForStream() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.execute("CREATE TABLE t (a); INSERT INTO t SELECT 1")
            var iterator: SQLiteRowSequence<Number>.AsyncIterator? =
                connection.rows(numbers, [10_000], as: Number.self).makeAsyncIterator()
            #expect(try await iterator?.next()?.i == 1)
            let other = Task { try await connection.execute("UPDATE t SET a = 2") }
            try await eventually { connection.scope.waiterCount == 1 }
            #expect(try await iterator?.next()?.i == 2)
            iterator = nil
            #expect(try await other.value == 1)
        }

        @Test("Using the connection while streaming is refused")
        func useWhileStreaming() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            var refusals = 0
            for try await _ in connection.rows(numbers, [600]) {
                do { try await connection.execute("SELECT 1") } catch let error as SQLiteClientError {
                    #expect(error.code == .invalidArgument)
                    refusals += 1
                }
            }
            // In the last batch the statement has ended already.
            #expect(refusals >= 512)
            try await connection.execute("SELECT 1")
        }

        @Test("An error ends the stream")
        func errorEndsStream() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            var iterator = connection.rows("SELECT 1 UNION ALL SELECT abs(-9223372036854775808)").makeAsyncIterator()
            await expect(.sql) { try await iterator.next() }
            #expect(try await iterator.next() == nil)
            var missing = connection.rows("SELECT * FROM missing").makeAsyncIterator()
            await expect(.sql) { try await missing.next() }
            var several = connection.rows("SELECT 1; SELECT 2").makeAsyncIterator()
            await expect(.sql) { try await several.next() }
            for sql in ["BEGIN", "SAVEPOINT s"] {
                var control = connection.rows(sql).makeAsyncIterator()
                await expect(.invalidArgument) { try await control.next() }
            }
            #expect(try await connection.query("SELECT 1", as: Int.self) == [1])
        }

        @Test("Cancelling ends the stream")
        func cancellingEndsStream() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            let begun = Gate()
            let task = Task {
                for try await row in connection.rows("SELECT 1 AS i UNION ALL SELECT * FROM (\(endless))") {
                    _ = row
                    begun.open()
                }
            }
            // The second row never comes; the first is of the same batch, so nothing is handed out.
            // Time to be in the middle of it.
            try await Task.sleep(for: .milliseconds(20))
            task.cancel()
            await expect(.cancelled) { try await task.value }
            #expect(try await connection.query("SELECT 1", as: Int.self) == [1])
        }

        @Test("A transaction ends its forgotten streams")
        func transactionEndsStreams() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            let numbers = numbers
            var iterator = try await connection.transaction { connection in
                var iterator = connection.rows(numbers, [10_000]).makeAsyncIterator()
                _ = try await iterator.next()
                return iterator
            }
            await expect(.closed) { while try await iterator.next() != nil {} }
            #expect(try await cursors(connection) == 0)
        }

        @Test("Closing ends streams")
        func closingEndsStreams() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            var iterator = connection.rows(numbers, [10_000]).makeAsyncIterator()
            _ = try await iterator.next()
            try await connection.close()
            await expect(.closed) { while try await iterator.next() != nil {} }
            var late = connection.rows(numbers, [10_000]).makeAsyncIterator()
            await expect(.closed) { try await late.next() }
        }

        /// Whose last holder goes with it: the connection closes when the stream's statement has been given back.
        @Test("A stream is closed before its connection")
        func streamClosesFirst() async throws {
            let (isHeld, works) = (Shared(false), Shared<[EngineThread.Work]>([]))
            let thread = EngineThread { work in
                if isHeld.value { works.update { $0.append(work) } } else { NIOThreadPool.singleton.submit(work) }
            }
            var connection: SQLiteConnection? = try await .open(
                storage: .memory, configuration: .init(maximumRowsPerBatch: 1), thread: thread)
            var rows = connection?.rows("SELECT 1 UNION ALL SELECT 2").makeAsyncIterator()
            #expect(try await rows?.next() != nil)
            isHeld.update { $0 = true }
            (rows, connection) = (nil, nil)
            for step in ["the statement", "the connection"] {
                let next = works.update { works in
                    defer { works = [] }
                    return works
                }
                #expect(next.count == 1, "\(step)")
                for work in next { work(.active) }
            }
            #expect(works.value.isEmpty)
        }
    }
#endif
