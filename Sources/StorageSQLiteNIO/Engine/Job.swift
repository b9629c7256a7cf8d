#if SQLITE_ENGINE_SQLITENIO
    internal import CSQLite
    internal import StorageRecords
    internal import StorageSQLiteClient
    internal import Synchronization

    /// A piece of work on a connection's thread, which its task can cancel.
    ///
    /// `sqlite3_interrupt` affects whatever statement runs on a connection, so it is only called while this job is
    /// running: under the lock that the job takes to begin and to end. After the end nothing is interrupted any more.
    /// SQLite forgets an interruption when the next statement begins and no other is running, so one between two
    /// statements of a job would be lost; the progress handler, which checks ``isCancelled``, stops the next one.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class Job: Sendable {
        private enum State {
            case waiting
            case running(Interruptible)
            case cancelled
            case ended
        }

        /// Sound as `@unchecked Sendable`: it is only used to call `sqlite3_interrupt`, which is allowed on any thread
        /// while the connection is open, as it is while a job runs.
        private struct Interruptible: @unchecked Sendable { let connection: Connection }

        private let state = Mutex(State.waiting)

        /// - Throws: `cancelled` if the task was cancelled before.
        func begin(on connection: Connection) throws(SQLiteClientError) {
            let interruptible = Interruptible(connection: connection)
            let begins = state.withLock { state in
                guard case .waiting = state else { return false }
                state = .running(interruptible)
                return true
            }
            if !begins { throw .cancelled }
        }

        /// After this nothing is interrupted on behalf of this job.
        ///
        /// - Returns: Whether it wasn't cancelled.
        @discardableResult
        func end() -> Bool {
            state.withLock { state in
                if case .cancelled = state { return false }
                state = .ended
                return true
            }
        }

        func cancel() {
            state.withLock { state in
                switch state {
                case .waiting: state = .cancelled
                case .running(let interruptible):
                    state = .cancelled
                    sqlite3_interrupt(interruptible.connection.handle)
                case .cancelled, .ended: break
                }
            }
        }

        var isCancelled: Bool {
            state.withLock { state in
                if case .cancelled = state { true } else { false }
            }
        }
    }
#endif
