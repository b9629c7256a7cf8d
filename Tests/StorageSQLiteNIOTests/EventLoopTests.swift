#if SQLITE_ENGINE_SQLITENIO
    import NIOCore
    import NIOPosix
    import StorageSQLiteClient
    import Synchronization
    import Testing

    @testable import StorageSQLiteNIO

    struct EventLoopTests {
        @Test func aThreadOfAnEventLoopIsRefused() async throws {
            let loop = MultiThreadedEventLoopGroup.singleton.any()
            let refused = EngineThread.refused.load(ordering: .relaxed)
            await expect(.misuse) {
                try await SQLiteConnection.open(
                    .memory, .init(), EngineThread { work in loop.execute { work(.active) } })
            }
            #expect(EngineThread.refused.load(ordering: .relaxed) > refused)
        }

        /// Each job asks where it runs; this counts that none of them was on a loop although all callers are.
        @Test func callersOnEventLoopsAreServedElsewhere() async throws {
            let connection = try await SQLiteConnection.open(storage: .memory)
            try await connection.execute("CREATE TABLE t (a)")
            let checked = EngineThread.checked.load(ordering: .relaxed)
            let group = MultiThreadedEventLoopGroup.singleton
            let futures = (0..<64).map { number in
                group.next().makeFutureWithTask {
                    try await connection.execute("INSERT INTO t VALUES (?)", [number])
                    return try await connection.withTransaction(.read) { db in
                        #expect(MultiThreadedEventLoopGroup.currentEventLoop == nil)
                        return try db.fetchOne(Int.self, "SELECT count(*) FROM t") ?? 0
                    }
                }
            }
            for future in futures { #expect(try await future.get() > 0) }
            #expect(EngineThread.checked.load(ordering: .relaxed) >= checked + 128)
            for try await _ in connection.rows("SELECT * FROM t") {}
            try await connection.close()
        }

        /// The same from the loop's own executor, where `await` comes back to.
        @Test func anActorOnAnEventLoopIsServed() async throws {
            let actor = LoopActor()
            #expect(try await actor.count() == 1)
        }

        private actor LoopActor {
            private let loop = MultiThreadedEventLoopGroup.singleton.any()
            nonisolated var unownedExecutor: UnownedSerialExecutor { loop.executor.asUnownedSerialExecutor() }
            private var seen = 0

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
