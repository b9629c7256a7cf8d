#if SQLITE_ENGINE_SQLITENIO
    import TestSupport
    import StorageSQLiteClient
    import Synchronization
    import Testing

    @testable import StorageSQLiteNIO

    struct TurnTests {
        @Test("Strangers don't get into a transaction")
        func strangersWait() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.execute("CREATE TABLE t (who, step)")
            let inside = Gate()
            async let rolledBack: Void = {
                _ = try? await connection.transaction { connection in
                    try await connection.execute("INSERT INTO t VALUES ('body', 1)")
                    inside.open()
                    // Time for strangers to come in between.
                    try await Task.sleep(for: .milliseconds(30))
                    try await connection.execute("INSERT INTO t VALUES ('body', 2)")
                    throw CancellationError()
                }
            }()
            await inside.wait()
            // Would be undone with the transaction, were it inside.
            let seen = try await connection.query("SELECT count(*) FROM t", as: Int.self)
            try await connection.execute("INSERT INTO t VALUES ('stranger', 1)")
            await rolledBack
            #expect(seen == [0])
            #expect(try await connection.query("SELECT who FROM t", as: String.self) == ["stranger"])
        }

        @Test("Many transactions add up")
        func manyTransactions() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.execute("CREATE TABLE t (n); INSERT INTO t VALUES (0)")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<200 {
                    group.addTask {
                        if number.isMultiple(of: 2) {
                            try await connection.transaction { connection in
                                let n = try await connection.query("SELECT n FROM t", as: Int.self)[0]
                                try await connection.execute("UPDATE t SET n = ?", [n + 1])
                            }
                        } else {
                            try await connection.withTransaction { db in
                                let n = try db.fetchOne("SELECT n FROM t", as: Int.self) ?? 0
                                try db.execute("UPDATE t SET n = ?", [n + 1])
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await connection.query("SELECT n FROM t", as: Int.self) == [200])
        }

        @Test("Waiting for oneself is refused", .timeLimit(.minutes(10)))
        func selfWaitIsRefused() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.transaction { inner in
                await expect(.invalidArgument) { try await connection.execute("SELECT 1") }
                await expect(.invalidArgument) { try await connection.transaction { _ in } }
                await expect(.invalidArgument) { try await connection.withTransaction { _ in } }
                await expect(.invalidArgument) { try await connection.close() }
                await expect(.invalidArgument) { for try await _ in connection.rows("SELECT 1") {} }
                try await inner.transaction { innermost in
                    await expect(.invalidArgument) { try await inner.execute("SELECT 1") }
                    await expect(.invalidArgument) { try await connection.execute("SELECT 1") }
                    try await innermost.execute("SELECT 1")
                }
                // A task that the body waits for.
                await expect(.invalidArgument) { try await Task { try await connection.execute("SELECT 1") }.value }
                try await inner.execute("SELECT 1")
            }
            try await connection.execute("SELECT 1")
        }

        @Test("A task that outlives its body may use the connection")
        func outlivingTask() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            let isOver = Gate()
            let late = try await connection.transaction { _ in
                Task {
                    await isOver.wait()
                    return try await connection.query("SELECT 1", as: Int.self)
                }
            }
            isOver.open()
            #expect(try await late.value == [1])
        }

        @Test("Resources are lent in the order of asking")
        func orderOfLending() async throws {
            let queue = ResourceQueue([0], maximumWaiters: 100, closedError: .closed)
            let first = try await queue.borrow()
            let order = Shared<[Int]>([])
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<20 {
                    group.addTask {
                        let resource = try await queue.borrow()
                        order.update { $0.append(number) }
                        queue.giveBack(resource)
                    }
                    try await eventually { queue.waiterCount == number + 1 }
                }
                queue.giveBack(first)
                try await group.waitForAll()
            }
            #expect(order.value == Array(0..<20))
        }

        @Test("A cancelled waiter leaves the line")
        func cancelledWaiter() async throws {
            let queue = ResourceQueue([0], maximumWaiters: 100, closedError: .closed)
            let first = try await queue.borrow()
            let waiters = (0..<5).map { _ in Task { queue.giveBack(try await queue.borrow()) } }
            try await eventually { queue.waiterCount == 5 }
            waiters[2].cancel()
            await expect(.cancelled) { try await waiters[2].value }
            #expect(queue.waiterCount == 4)
            queue.giveBack(first)
            for index in [0, 1, 3, 4] { try await waiters[index].value }
            let cancelled = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                _ = try await queue.borrow()
            }
            await expect(.cancelled) { try await cancelled.value }
            queue.giveBack(try await queue.borrow())
        }

        @Test("No more may wait than configured")
        func waiterLimit() async throws {
            let queue = ResourceQueue([0], maximumWaiters: 2, closedError: .closed)
            let first = try await queue.borrow()
            let waiters = (0..<2).map { _ in Task { queue.giveBack(try await queue.borrow()) } }
            try await eventually { queue.waiterCount == 2 }
            await expect(.busy) { try await queue.borrow() }
            queue.giveBack(first)
            for waiter in waiters { try await waiter.value }
        }

        @Test("Borrowers and cancellations at once lose nothing")
        func borrowersAndCancellations() async throws {
            let queue = ResourceQueue([0, 1, 2], maximumWaiters: 10_000, closedError: .closed)
            let lent = Shared(0)
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<600 {
                    group.addTask {
                        let task = Task {
                            let resource = try await queue.borrow()
                            let count = lent.update {
                                $0 += 1
                                return $0
                            }
                            if count > 3 { Issue.record("\(count) of 3 are lent") }
                            await Task.yield()
                            lent.update { $0 -= 1 }
                            queue.giveBack(resource)
                        }
                        if number.isMultiple(of: 3) { task.cancel() }
                        _ = try? await task.value
                    }
                }
            }
            let all = [try await queue.borrow(), try await queue.borrow(), try await queue.borrow()]
            #expect(all.sorted() == [0, 1, 2])
        }
    }
#endif
