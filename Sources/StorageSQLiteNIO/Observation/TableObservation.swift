#if SQLITE_ENGINE_SQLITENIO
    internal import Synchronization

    /// Notifies observers of tables and rows that were changed by commits.
    ///
    /// - Commits of this connection are reported immediately and by table. Commits of others are found by polling
    ///   `PRAGMA data_version`, which provides no details; every observed table is then reported.
    /// - A slow observer loses nothing: changes it hasn't received yet are combined into one element.
    /// - Waiting observers poll. Without any, nothing polls, and changes are found by the next poll.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class TableObservation: Sendable {
        private enum State {
            case open(observers: [ObjectIdentifier: WeakObserver])
            case ended
        }

        private struct WeakObserver {
            weak var observer: TableObserver?
            let maximumRows: Int
        }

        private let state = Mutex(State.open(observers: [:]))
        private let limit = Atomic(0)

        /// The maximum row limit of all observers; 0 if none of them requests rows.
        var rowLimit: Int { limit.load(ordering: .acquiring) }

        /// Nil if the connection is closed.
        ///
        /// - Parameter maximumRows: 0 to report only tables.
        func makeObserver(_ tables: Set<String>, maximumRows: Int) -> TableObserver? {
            let observer = TableObserver(tables, self, maximumRows: maximumRows)
            let isOpen = state.withLock { state in
                guard case .open(var observers) = state else { return false }
                observers[ObjectIdentifier(observer)] = WeakObserver(
                    observer: observer, maximumRows: maximumRows)
                setObservers(observers, &state)
                return true
            }
            return isOpen ? observer : nil
        }

        fileprivate func remove(_ observer: ObjectIdentifier) {
            state.withLock { state in
                guard case .open(var observers) = state else { return }
                observers[observer] = nil
                setObservers(observers, &state)
            }
        }

        private func setObservers(_ observers: [ObjectIdentifier: WeakObserver], _ state: inout State) {
            state = .open(observers: observers)
            limit.store(observers.values.reduce(0) { max($0, $1.maximumRows) }, ordering: .releasing)
        }

        private var observers: [TableObserver] {
            state.withLock { state in
                switch state {
                case .open(let observers): observers.values.compactMap(\.observer)
                case .ended: []
                }
            }
        }

        /// Whether the connection is still open.
        var isOpen: Bool {
            state.withLock { state in
                if case .open = state { true } else { false }
            }
        }

        var observerCount: Int { observers.count }

        /// - Parameter committed: The names of tables in lower case.
        func publish(_ committed: CommittedChanges) {
            for observer in observers { observer.publish(committed) }
        }

        /// Reports a commit by others.
        func publishAll() {
            for observer in observers { observer.publishAll() }
        }

        /// Makes waiting observers poll now.
        func ring() {
            for observer in observers { observer.wake() }
        }

        /// Called when the connection is closed: observers end after what they have received.
        func end() {
            let ended = observers
            state.withLock { $0 = .ended }
            for observer in ended { observer.end() }
        }
    }

    /// An observation of changes, which ends when it is released.
    ///
    /// Isolation: `Sendable`, its state behind a mutex.
    final class TableObserver: Sendable {
        private enum State {
            case quiet
            case waiting(CheckedContinuation<Void, Never>)
            /// Woken to poll, before it waited.
            case woken
            case pending(SQLiteRowUpdates)
            /// The remaining changes.
            case ended(SQLiteRowUpdates)
        }

        /// The given names, keyed by their lower-case forms.
        private let tables: [String: Set<String>]
        private let observation: TableObservation
        /// The maximum number of rows to keep until they are received; 0 to report only tables.
        private let maximumRows: Int
        private let state = Mutex(State.quiet)

        init(_ tables: Set<String>, _ observation: TableObservation, maximumRows: Int) {
            self.maximumRows = maximumRows
            self.tables = Dictionary(grouping: tables, by: TableName.folded).mapValues(Set.init)
            self.observation = observation
        }

        deinit { observation.remove(ObjectIdentifier(self)) }

        fileprivate func publish(_ committed: CommittedChanges) {
            let changed = maximumRows > 0 ? committed.rows.tables : committed.tables
            var changes = SQLiteRowUpdates(tables: changed.reduce(into: []) { $0.formUnion(tables[$1] ?? []) })
            guard maximumRows > 0 else { return publish(changes) }
            for row in committed.rows.rows {
                for name in tables[row.table] ?? [] {
                    changes.add(.init(row.kind, table: name, rowID: row.rowID), limit: maximumRows)
                }
            }
            publish(changes)
        }

        fileprivate func publishAll() {
            publish(SQLiteRowUpdates(tables: tables.values.reduce(into: []) { $0.formUnion($1) }))
        }

        private func publish(_ changes: SQLiteRowUpdates) {
            guard !changes.isEmpty else { return }
            let waiter = state.withLock { state -> CheckedContinuation<Void, Never>? in
                switch state {
                case .quiet, .woken: state = .pending(changes)
                case .pending(var pending):
                    // So that adding doesn't copy the pending changes.
                    state = .quiet
                    pending.add(changes, limit: maximumRows)
                    state = .pending(pending)
                case .ended: break
                case .waiting(let waiter):
                    state = .pending(changes)
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
                    case .quiet, .woken, .waiting: state = .ended(SQLiteRowUpdates())
                    }
                }
                if case .waiting(let waiter) = state { return waiter }
                return nil
            }
            waiter?.resume()
        }

        private enum Pending {
            case changes(SQLiteRowUpdates)
            case none
            case end
        }

        private func take() -> Pending {
            state.withLock { state in
                switch state {
                case .pending(let changes):
                    state = .quiet
                    return .changes(changes)
                case .ended(let changes):
                    state = .ended(SQLiteRowUpdates())
                    return changes.isEmpty ? .end : .changes(changes)
                case .woken:
                    state = .quiet
                    return .none
                case .quiet: return .none
                // Another task is already waiting: this one would only spin.
                case .waiting: return .end
                }
            }
        }

        /// The changes since the last call; nil at the end, and in a cancelled task.
        ///
        /// - Parameters:
        ///   - interval: The polling interval; nil if no other connection can commit.
        ///   - poll: Polls for commits of others, and publishes them.
        func next(every interval: Duration?, _ poll: () async -> Void) async -> SQLiteRowUpdates? {
            while !Task.isCancelled {
                switch take() {
                case .changes(let changes): return changes
                case .end: return nil
                case .none: break
                }
                if interval != nil { await poll() }
                await wait(interval)
            }
            return nil
        }

        /// Waits for changes, a wake-up, the interval, or the task's cancellation.
        private func wait(_ interval: Duration?) async {
            await withTaskGroup(of: Void.self) { group in
                group.addTask { await self.waitForChanges() }
                // A cancelled sleep ends early, as it should.
                if let interval { group.addTask { try? await Task.sleep(for: min(interval, .seconds(86_400))) } }
                await group.next()
                group.cancelAll()
            }
        }

        private func waitForChanges() async {
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
