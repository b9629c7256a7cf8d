#if SQLITE_ENGINE_SQLITENIO
    internal import Synchronization

    /// Polls for commits of other connections and processes, on behalf of the observers of one connection.
    ///
    /// One poll serves all observers. It waits for the connection like any statement.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class CommitPoller: Sendable {
        private enum State {
            /// - version: The last result of `PRAGMA data_version`; everything up to it is reported.
            case waiting(version: Int64, since: ContinuousClock.Instant)
            /// A commit was signalled since.
            case signalled(version: Int64)
        }

        private let engine: ConnectionEngine
        private let scope: ConnectionScope
        private let state: Mutex<State>
        private let bell: StoreBell?

        init(_ engine: ConnectionEngine, _ scope: ConnectionScope, version: Int64, storePath: String?) {
            self.engine = engine
            self.scope = scope
            state = Mutex(.signalled(version: version))
            guard let storePath else {
                bell = nil
                return
            }
            let reference = PollerReference()
            bell = StoreBell(besideStore: storePath) { reference.poller?.ring() }
            reference.poller = self
        }

        /// The polling interval; nil if no other connection can commit.
        private var interval: Duration? { engine.storage == .memory ? nil : engine.configuration.observationInterval }

        /// - Parameters:
        ///   - maximumRows: 0 to report only tables.
        ///   - form: Converts the changes to elements of the stream.
        func observe<Changes: Sendable>(
            _ tables: Set<String>, maximumRows: Int = 0, _ form: @escaping @Sendable (SQLiteRowUpdates) -> Changes
        ) -> AsyncStream<Changes> {
            guard let observer = engine.observation.makeObserver(tables, maximumRows: maximumRows) else {
                return AsyncStream { nil }
            }
            bell?.begin()
            let interval = interval
            // Releasing the connection closes it, and with it this stream.
            return AsyncStream { [weak self] in
                await observer.next(every: interval) { await self?.pollIfDue() }.map(form)
            }
        }

        func end() { bell?.end() }

        private func ring() {
            state.withLock { state in
                if case .waiting(let version, _) = state { state = .signalled(version: version) }
            }
            engine.observation.ring()
        }

        private func pollIfDue() async {
            let now = ContinuousClock.now
            let isDue = state.withLock { state in
                switch state {
                case .signalled(let version):
                    state = .waiting(version: version, since: now)
                    return true
                // A little early, so that observers whose timers differ slightly share a poll.
                case .waiting(let version, let since):
                    guard now - since >= engine.configuration.observationInterval * 0.8 else { return false }
                    state = .waiting(version: version, since: now)
                    return true
                }
            }
            // If the connection is used by the caller itself, as in its own body, the next poll is soon enough.
            if isDue { try? await poll() }
        }

        private func poll() async throws {
            try await scope.enter()
            defer { scope.leave() }
            let (version, isAnother) = try await engine.runToTheEnd { database in
                let isAnother = try database.refresh()
                return (try database.dataVersion(), isAnother)
            }
            let hasMoved = state.withLock { state in
                switch state {
                case .waiting(let known, let since):
                    state = .waiting(version: version, since: since)
                    return known != version
                case .signalled(let known):
                    state = .signalled(version: version)
                    return known != version
                }
            }
            if hasMoved || isAnother { engine.observation.publishAll() }
        }
    }

    /// The callback of the bell's thread, which is created before this object is complete.
    ///
    /// Sound as `@unchecked Sendable`: it is set once, before the bell's thread begins.
    private final class PollerReference: @unchecked Sendable {
        weak var poller: CommitPoller?
    }
#endif
