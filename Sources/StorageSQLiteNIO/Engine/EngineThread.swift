#if SQLITE_ENGINE_SQLITENIO
    internal import Foundation
    internal import NIOPosix
    internal import StorageSQLiteClient
    internal import Synchronization

    /// The threads that run SQLite: those of an `NIOThreadPool`, never an event loop's.
    ///
    /// Isolation: `Sendable`, immutable.
    struct EngineThread: Sendable {
        typealias Work = NIOThreadPool.WorkItem
        private let submit: @Sendable (@escaping Work) -> Void

        init(_ pool: NIOThreadPool) { submit = { pool.submit($0) } }

        /// Runs work with a closure; for the test that shows that ``check()`` refuses event loops.
        init(submit: @escaping @Sendable (@escaping Work) -> Void) { self.submit = submit }

        /// How often ``check()`` was called, and how often it refused, in this process.
        static let checked = Atomic<Int>(0)
        static let refused = Atomic<Int>(0)

        /// - Throws: `invalid-argument` on an event loop's thread, because waiting for the disk would block all
        ///   connections of that loop.
        static func check() throws(SQLiteClientError) {
            checked.add(1, ordering: .relaxed)
            guard MultiThreadedEventLoopGroup.currentEventLoop != nil else { return }
            refused.add(1, ordering: .relaxed)
            throw SQLiteClientError(
                .invalidArgument, "An SQLite call was about to run on the thread of an event loop.",
                remedy: "Give the connection an NIOThreadPool that doesn't run its work on event loops.")
        }

        func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
            try await withCheckedThrowingContinuation { continuation in
                submit { state in
                    guard state == .active else { return continuation.resume(throwing: SQLiteClientError.poolStopped) }
                    continuation.resume(
                        with: Swift.Result {
                            try Self.check()
                            return try body()
                        })
                }
            }
        }

        /// Runs mandatory work, such as closing, without waiting for it. If the thread pool has stopped, a new thread
        /// runs it.
        func runInAnyCase(_ body: @escaping @Sendable () -> Void) {
            submit { state in
                if state == .active, (try? Self.check()) != nil { return body() }
                Thread { body() }.start()
            }
        }

        /// Runs mandatory work, and waits for it.
        func runInAnyCase(_ body: @escaping @Sendable () -> Void) async {
            await withCheckedContinuation { continuation in
                runInAnyCase {
                    body()
                    continuation.resume()
                }
            }
        }
    }

    extension SQLiteClientError {
        static var poolStopped: SQLiteClientError {
            SQLiteClientError(
                .closed, "The thread pool of the connection isn't running.",
                remedy: "Start it before the connection is opened, and stop it after the connection is closed.")
        }
    }
#endif
