#if SQLITE_ENGINE_SQLITENIO
    internal import Synchronization

    /// Looks for commits of other connections and processes, on behalf of the observers of one connection.
    ///
    /// One look serves all observers. It takes the turn on the connection, as every statement does.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class Lookout: Sendable {
        private enum State {
            /// - version: What `PRAGMA data_version` said last; all before is reported.
            case waiting(version: Int64, since: ContinuousClock.Instant)
            /// Something has rung since.
            case rung(version: Int64)
        }

        private let engine: ConnectionEngine
        private let scope: Scope
        private let state: Mutex<State>
        private let bell: StoreBell?

        init(_ engine: ConnectionEngine, _ scope: Scope, version: Int64, storePath: String?) {
            self.engine = engine
            self.scope = scope
            state = Mutex(.rung(version: version))
            guard let storePath else {
                bell = nil
                return
            }
            let ring = Ring()
            bell = StoreBell(besideStore: storePath) { ring.lookout?.ring() }
            ring.lookout = self
        }

        /// How often to look; nil where nobody else can commit.
        private var interval: Duration? { engine.storage == .memory ? nil : engine.configuration.observationInterval }

        /// - Parameters:
        ///   - maximumRows: 0 where only tables are to be known.
        ///   - form: What the stream has of the changes.
        func observe<Changes: Sendable>(
            _ tables: Set<String>, maximumRows: Int = 0, _ form: @escaping @Sendable (SQLiteRowUpdates) -> Changes
        ) -> AsyncStream<Changes> {
            guard let observer = engine.observation.makeObserver(tables, maximumRows: maximumRows) else {
                return AsyncStream { nil }
            }
            bell?.begin()
            let interval = interval
            // Who forgets the connection closes it, and with it this stream.
            return AsyncStream { [weak self] in
                await observer.next(every: interval) { await self?.lookIfDue() }.map(form)
            }
        }

        func end() { bell?.end() }

        private func ring() {
            state.withLock { state in
                if case .waiting(let version, _) = state { state = .rung(version: version) }
            }
            engine.observation.ring()
        }

        private func lookIfDue() async {
            let now = ContinuousClock.now
            let isDue = state.withLock { state in
                switch state {
                case .rung(let version):
                    state = .waiting(version: version, since: now)
                    return true
                // A little early, so that observers whose timers differ by a hair share a look.
                case .waiting(let version, let since):
                    guard now - since >= engine.configuration.observationInterval * 0.8 else { return false }
                    state = .waiting(version: version, since: now)
                    return true
                }
            }
            // Where the connection is in the way of itself, such as in a body of its own, the next look is soon enough.
            if isDue { try? await look() }
        }

        private func look() async throws {
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
                case .rung(let known):
                    state = .rung(version: version)
                    return known != version
                }
            }
            if hasMoved || isAnother { engine.observation.publishAll() }
        }
    }

    /// What the bell's thread calls, which is made before the lookout is complete.
    ///
    /// Sound as `@unchecked Sendable`: it is set once, before the bell's thread begins.
    private final class Ring: @unchecked Sendable {
        weak var lookout: Lookout?
    }
#endif
