#if SQLITE_ENGINE_SQLITENIO
    internal import StorageSQLiteClient
    internal import Synchronization

    /// A scope of access to a connection: the connection itself, or the body of a transaction in it.
    ///
    /// A scope has one turn. A statement takes it, and a transaction's body for its whole length: the body has a scope
    /// of its own, so the statements of other tasks can't join the transaction. A stream of rows holds the turn until
    /// it ends.
    ///
    /// - A body that calls a scope waiting for it would deadlock. Each task knows the bodies that it runs in, so the
    ///   call is refused. This includes tasks that a body starts, as long as the body runs: it may wait for them.
    /// - A scope that ends closes its streams, so that forgotten ones don't hold it open.
    ///
    /// Isolation: `Sendable`, its state behind mutexes.
    final class ConnectionScope: Sendable {
        enum Kind {
            case connection
            case body(of: ConnectionScope, Database.Policy)
        }

        /// A stream's claim on the turn.
        private enum Stream {
            case none
            /// Between two batches. The task that received the last one can't use the scope otherwise.
            case idle(Int, task: Int?)
            case fetching(Int, task: Int?)
            /// The scope is ending; the stream is closed after the batch that is being fetched.
            case ending(Int)
        }

        /// The bodies that the current task, or the one that started it, runs in.
        @TaskLocal static var entered: [ConnectionScope] = []

        let kind: Kind
        /// The pool that lends the connection to bodies. Inside them, calls to the pool are refused.
        let pool: ObjectIdentifier?
        private let turns: ResourceQueue<Void>
        private let stream = Mutex(Stream.none)

        init(_ kind: Kind, pool: ObjectIdentifier? = nil, maximumWaiters: Int) {
            self.kind = kind
            self.pool = pool
            let error: SQLiteClientError =
                switch kind {
                case .connection: .closed
                case .body: .bodyIsOver
                }
            turns = ResourceQueue([()], maximumWaiters: maximumWaiters, closedError: error)
        }

        /// An unusable scope: every call throws this error.
        init(refusing error: SQLiteClientError) {
            kind = .connection
            pool = nil
            turns = ResourceQueue([()], maximumWaiters: 0, closedError: error)
            turns.beginClosing(waitersMayFinish: false)
        }

        var isOpen: Bool { turns.isOpen }
        var waiterCount: Int { turns.waiterCount }

        var isConnection: Bool {
            if case .connection = kind { true } else { false }
        }

        private var parent: ConnectionScope? {
            if case .body(let parent, _) = kind { parent } else { nil }
        }

        /// - Throws: `invalid-argument` if the current task runs in a body that this pool has lent a connection to.
        static func checkNotInside(pool: ObjectIdentifier) throws(SQLiteClientError) {
            if entered.contains(where: { $0.pool == pool && $0.isOpen }) { throw .deadlock }
        }

        /// - Throws: `invalid-argument` if this would wait for the calling task.
        private func checkWouldNotDeadlock() throws(SQLiteClientError) {
            if Self.entered.contains(where: { $0.parent === self && $0.isOpen }) { throw .deadlock }
            // A client that opens a transaction for a body calls on behalf of the body's task.
            let tasks = [Self.currentTask, HeldTransaction.caller].compactMap(\.self)
            let isOwnStream = stream.withLock { stream in
                switch stream {
                case .idle(_, let task?), .fetching(_, let task?): tasks.contains(task)
                case .idle, .fetching, .none, .ending: false
                }
            }
            if isOwnStream { throw .waitsForOwnStream }
        }

        private static var currentTask: Int? { withUnsafeCurrentTask { $0?.hashValue } }
    }

    // MARK: Turns

    extension ConnectionScope {
        /// Waits for the turn. Must be followed by ``leave()``.
        func enter() async throws {
            try checkWouldNotDeadlock()
            try await turns.borrow()
        }

        func leave() { turns.giveBack(()) }

        /// Ends the scope: waits for the holder of the turn, but ends an idle stream with the closure.
        func end(waitersMayFinish: Bool, _ endStream: (Int) async -> Void) async {
            // First, so that a stream that pauses from here on ends by itself.
            turns.beginClosing(waitersMayFinish: waitersMayFinish)
            let idle = stream.withLock { stream -> Int? in
                switch stream {
                case .idle(let number, _):
                    stream = .ending(number)
                    return number
                case .fetching(let number, _):
                    stream = .ending(number)
                    return nil
                case .none, .ending: return nil
                }
            }
            if let idle {
                await endStream(idle)
                streamEnded(idle)
            }
            await turns.close(waitersMayFinish: waitersMayFinish)
        }

        /// - Throws: `invalid-argument` if ending would wait for the calling task. The task's own stream doesn't
        ///   matter.
        func checkMayEnd() throws(SQLiteClientError) {
            if Self.entered.contains(where: { $0.parent === self && $0.isOpen }) { throw .deadlock }
        }
    }

    // MARK: Streams

    extension ConnectionScope {
        /// Waits for the turn on behalf of a stream, which then fetches its first batch.
        func enter(stream number: Int) async throws {
            try await enter()
            stream.withLock { $0 = .fetching(number, task: Self.currentTask) }
        }

        /// Whether an idle stream may fetch; otherwise it was ended.
        func resume(stream number: Int) -> Bool {
            stream.withLock { stream in
                guard case .idle(number, _) = stream else { return false }
                stream = .fetching(number, task: Self.currentTask)
                return true
            }
        }

        /// Reports that a batch is fetched, and that more may follow.
        ///
        /// - Returns: Whether the stream continues. Otherwise the caller must close it, and call ``streamEnded(_:)``.
        func pause(stream number: Int) -> Bool {
            stream.withLock { stream in
                guard case .fetching(number, let task) = stream, turns.isOpen else { return false }
                stream = .idle(number, task: task)
                return true
            }
        }

        /// Ends a stream that is no longer read.
        ///
        /// - Returns: Whether the caller must close it, and call ``streamEnded(_:)``.
        func abandon(stream number: Int) -> Bool {
            stream.withLock { stream in
                guard case .idle(number, _) = stream else { return false }
                stream = .ending(number)
                return true
            }
        }

        /// Returns the turn that a stream held.
        func streamEnded(_ number: Int) {
            let had = stream.withLock { stream in
                switch stream {
                case .fetching(number, _), .ending(number):
                    stream = .none
                    return true
                case .none, .idle, .fetching, .ending: return false
                }
            }
            if had { leave() }
        }
    }
#endif
