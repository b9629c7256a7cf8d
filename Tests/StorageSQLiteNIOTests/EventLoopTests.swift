#if SQLITE_ENGINE_SQLITENIO
    import NIOCore
    import NIOPosix
    import TestSupport
    import StorageSQLiteClient
    import Synchronization
    import Testing

    @testable import StorageSQLiteNIO

    struct EventLoopTests {
        @Test("A thread of an event loop is refused")
        func eventLoopThreadIsRefused() async throws {
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            let refused = EngineThread.refused.load(ordering: .relaxed)
            await expect(.invalidArgument) {
                try await SQLiteConnection.open(
                    storage: .memory, configuration: .init(),
                    thread: EngineThread { work in loop.execute { work(.active) } })
            }
            #expect(EngineThread.refused.load(ordering: .relaxed) > refused)
        }

        /// Each job asks where it runs; this counts that none of them was on a loop although all callers are.
        @Test("Callers on event loops are served elsewhere")
        func callersOnEventLoops() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.execute("CREATE TABLE t (a)")
            let checked = EngineThread.checked.load(ordering: .relaxed)
            let group = MultiThreadedEventLoopGroup.singleton
            let futures = (0..<64).map { number in
                group.next().makeFutureWithTask {
                    try await connection.execute("INSERT INTO t VALUES (?)", [number])
                    return try await connection.withTransaction(.read) { db in
                        #expect(MultiThreadedEventLoopGroup.currentEventLoop == nil)
                        return try db.fetchOne("SELECT count(*) FROM t", as: Int.self) ?? 0
                    }
                }
            }
            for future in futures { #expect(try await future.get() > 0) }
            #expect(EngineThread.checked.load(ordering: .relaxed) >= checked + 128)
            for try await _ in connection.rows("SELECT * FROM t") {}
            try await connection.close()
        }

        /// The same from the loop's own executor, where `await` comes back to.
        @Test("An actor on an event loop is served")
        func actorOnEventLoop() async throws {
            let actor = LoopActor()
            #expect(try await actor.count() == 1)
        }

        /// Reading, cancelling and continuing happen on one loop, and SQLite runs elsewhere.
        @Test("A read is cancelled from its loop", .timeLimit(.minutes(10)), arguments: CancelledRead.allCases)
        func cancellingOnEventLoop(_ read: CancelledRead) async throws {
            let actor = LoopActor()
            try await actor.cancel(read)
        }

        enum CancelledRead: CaseIterable {
            case statement
            case statementOfATransaction
            case body
            case stream

            func run(
                on connection: SQLiteConnection, isolation: isolated (any Actor)? = #isolation
            ) async throws {
                switch self {
                case .statement: _ = try await connection.query(endless)
                case .statementOfATransaction:
                    try await connection.transaction(.read) { _ = try await $0.query(endless) }
                case .body:
                    _ = try await connection.withTransaction(.read) { db in
                        #expect(MultiThreadedEventLoopGroup.currentEventLoop == nil)
                        return try db.fetchOne(endless, as: Int.self)
                    }
                case .stream: for try await _ in connection.rows(endless) {}
                }
            }
        }

        private actor LoopActor {
            private let loop = MultiThreadedEventLoopGroup.singleton.any()
            nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
            private var seen = 0

            func cancel(_ read: CancelledRead) async throws {
                let jobs = Shared(0)
                let thread = EngineThread { work in
                    NIOThreadPool.singleton.submit { state in
                        #expect(MultiThreadedEventLoopGroup.currentEventLoop == nil)
                        jobs.update { $0 += 1 }
                        work(state)
                    }
                }
                let connection = try await SQLiteConnection.open(
                    storage: .memory, configuration: .init(), thread: thread)
                let earlier = jobs.value
                let reading = Task {
                    loop.assertInEventLoop()
                    defer { loop.assertInEventLoop() }
                    try await read.run(on: connection)
                }
                // The loop is free while SQLite runs.
                try await eventually { jobs.value != earlier }
                // Time for SQLite to be in the middle of it.
                try await Task.sleep(for: .milliseconds(10))
                loop.assertInEventLoop()
                reading.cancel()
                await expect(.cancelled) { try await reading.value }
                #expect(try await connection.query("SELECT 1", as: Int.self) == [1])
                try await connection.close()
                loop.assertInEventLoop()
            }

            func count() async throws -> Int {
                let pool = try await SQLiteConnectionPool.open(storage: .memory)
                try await pool.write { connection in
                    // The body runs where its caller does, and may use what is the actor's.
                    loop.assertInEventLoop()
                    try await connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
                    loop.assertInEventLoop()
                    seen += 1
                }
                let count = try await pool.read { connection in
                    try await connection.query("SELECT count(*) FROM t", as: Int.self)[0]
                }
                try await pool.close()
                return count * seen
            }
        }
    }
#endif
