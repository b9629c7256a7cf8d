#if SQLITE_ENGINE_SQLITENIO
    internal import Synchronization

    /// Tells observers which tables were changed by commits.
    ///
    /// - What this connection commits is reported at once and by table. What others commit is found by a look at `PRAGMA
    ///   data_version`, which doesn't say more; then every observed table counts as changed.
    /// - Nothing is lost for an observer that is slow: what it hasn't received yet is one set of tables.
    /// - Looking is done by the observers that wait. Without one nothing looks, and what was missed is found by the next look.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class TableObservation: Sendable {
        private enum State {
            case open(observers: [ObjectIdentifier: WeakObserver])
            case ended
        }

        private struct WeakObserver { weak var observer: TableObserver? }

        private let state = Mutex(State.open(observers: [:]))

        /// Nil where the connection is closed.
        func makeObserver(_ tables: Set<String>) -> TableObserver? {
            let observer = TableObserver(tables, self)
            let isOpen = state.withLock { state in
                guard case .open(var observers) = state else { return false }
                observers[ObjectIdentifier(observer)] = WeakObserver(observer: observer)
                state = .open(observers: observers)
                return true
            }
            return isOpen ? observer : nil
        }

        fileprivate func remove(_ observer: ObjectIdentifier) {
            state.withLock { state in
                guard case .open(var observers) = state else { return }
                observers[observer] = nil
                state = .open(observers: observers)
            }
        }

        private var observers: [TableObserver] {
            state.withLock { state in
                switch state {
                case .open(let observers): observers.values.compactMap(\.observer)
                case .ended: []
                }
            }
        }

        /// Whether the connection isn't closed.
        var isOpen: Bool {
            state.withLock { state in
                if case .open = state { true } else { false }
            }
        }

        var observerCount: Int { observers.count }

        /// - Parameter tables: Changed tables, their names in lower case.
        func publish(_ tables: Set<String>) {
            for observer in observers { observer.publish(tables) }
        }

        /// Somebody else has changed something.
        func publishAll() {
            for observer in observers { observer.publishAll() }
        }

        /// Lets the observers that wait look now.
        func ring() {
            for observer in observers { observer.wake() }
        }

        /// The connection is closed: observers end after what they have received.
        func end() {
            let ended = observers
            state.withLock { $0 = .ended }
            for observer in ended { observer.end() }
        }
    }

    /// One observation of changes; it ends when it is let go of.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class TableObserver: Sendable {
        private enum State {
            case quiet
            case waiting(CheckedContinuation<Void, Never>)
            /// Woken to look, before it waited.
            case woken
            case pending(Set<String>)
            /// What is left to tell.
            case ended(Set<String>)
        }

        /// The names as they were given, by their names in lower case.
        private let tables: [String: Set<String>]
        private let observation: TableObservation
        private let state = Mutex(State.quiet)

        init(_ tables: Set<String>, _ observation: TableObservation) {
            self.tables = Dictionary(grouping: tables, by: TableName.folded).mapValues(Set.init)
            self.observation = observation
        }

        deinit { observation.remove(ObjectIdentifier(self)) }

        fileprivate func publish(_ changed: Set<String>) {
            publish(names: changed.reduce(into: []) { $0.formUnion(tables[$1] ?? []) })
        }

        fileprivate func publishAll() { publish(names: tables.values.reduce(into: []) { $0.formUnion($1) }) }

        private func publish(names: Set<String>) {
            guard !names.isEmpty else { return }
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                switch state {
                case .quiet, .woken: state = .pending(names)
                case .pending(let pending): state = .pending(pending.union(names))
                case .ended: break
                case .waiting(let waiter):
                    state = .pending(names)
                    return waiter
                }
                return nil
            }
            waiter?.resume()
        }

        /// Ends the wait, or the next one.
        func wake() {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                switch state {
                case .quiet: state = .woken
                case .woken, .pending, .ended: break
                case .waiting(let waiter):
                    state = .quiet
                    return waiter
                }
                return nil
            }
            waiter?.resume()
        }

        fileprivate func end() {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                defer {
                    switch state {
                    case .pending(let pending): state = .ended(pending)
                    case .ended: break
                    case .quiet, .woken, .waiting: state = .ended([])
                    }
                }
                if case .waiting(let waiter) = state { return waiter }
                return nil
            }
            waiter?.resume()
        }

        private enum News {
            case tables(Set<String>)
            case none
            case end
        }

        private func take() -> News {
            state.withLock { state in
                switch state {
                case .pending(let tables):
                    state = .quiet
                    return .tables(tables)
                case .ended(let tables):
                    state = .ended([])
                    return tables.isEmpty ? .end : .tables(tables)
                case .woken:
                    state = .quiet
                    return .none
                case .quiet: return .none
                // Another task waits already: this one would only turn in circles.
                case .waiting: return .end
                }
            }
        }

        /// The tables that were changed since this was asked before; nil at the end, and in a cancelled task.
        ///
        /// - Parameters:
        ///   - interval: How often to look; nil where nobody else can commit.
        ///   - look: Looks for commits of others, and publishes them.
        func next(every interval: Duration?, _ look: () async -> Void) async -> Set<String>? {
            while !Task.isCancelled {
                switch take() {
                case .tables(let tables): return tables
                case .end: return nil
                case .none: break
                }
                if interval != nil { await look() }
                await wait(interval)
            }
            return nil
        }

        /// Waits for changes, for a wake, for the interval to pass, or for the task to be cancelled.
        private func wait(_ interval: Duration?) async {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.waitForNews() }
                // A cancelled sleep ends early, as it should.
                if let interval { group.addTask { try? await Task.sleep(for: interval) } }
                await group.next()
                group.cancelAll()
            }
        }

        private func waitForNews() async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let waits = state.withLock { state in
                        guard case .quiet = state, !Task.isCancelled else { return false }
                        state = .waiting(continuation)
                        return true
                    }
                    if !waits { continuation.resume() }
                }
            } onCancel: {
                stopWaiting()
            }
        }

        private func stopWaiting() {
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard case .waiting(let waiter) = state else { return nil }
                state = .quiet
                return waiter
            }
            waiter?.resume()
        }
    }
#endif
