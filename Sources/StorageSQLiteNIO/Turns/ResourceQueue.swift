#if SQLITE_ENGINE_SQLITENIO
    internal import StorageSQLiteClient
    internal import Synchronization

    /// Lends resources to tasks in the order of their requests: the turn of a connection, or the readers of a pool.
    ///
    /// - If nothing is free, a request waits; waiting requests are served first come, first served.
    /// - A task that is cancelled while it waits leaves the queue.
    /// - Closing waits until everything is returned. It refuses later requests, and waiting ones unless they may
    ///   finish.
    ///
    /// Isolation: `Sendable`, its state behind a mutex that is never held while waiting.
    final class ResourceQueue<Resource: Sendable>: Sendable {
        private typealias Lending = CheckedContinuation<Result<Resource, SQLiteClientError>, Never>

        private struct Waiter {
            let number: UInt64
            let continuation: Lending
        }

        private enum State {
            case open(Line)
            case closing(Line, closers: [CheckedContinuation<Void, Never>])
            case closed
        }

        private struct Line {
            var free: [Resource]
            var lent = 0
            var waiters: [Waiter] = []
            /// Waiters before this index are already served: removing them from the front of an array would take time
            /// proportional to its length.
            var front = 0

            var waiterCount: Int { waiters.count - front }

            mutating func popFirst() -> Waiter? {
                guard front < waiters.count else { return nil }
                defer {
                    front += 1
                    if front > 32, front * 2 > waiters.count {
                        waiters.removeFirst(front)
                        front = 0
                    }
                }
                return waiters[front]
            }

            mutating func remove(_ number: UInt64) -> Waiter? {
                guard let index = waiters[front...].firstIndex(where: { $0.number == number }) else { return nil }
                return waiters.remove(at: index)
            }

            mutating func removeAll() -> [Waiter] {
                defer {
                    waiters = []
                    front = 0
                }
                return Array(waiters[front...])
            }
        }

        private let state: Mutex<State>
        private let nextNumber = Atomic<UInt64>(0)
        private let maximumWaiters: Int
        /// Thrown after closing.
        private let closedError: SQLiteClientError

        init(_ resources: [Resource], maximumWaiters: Int, closedError: SQLiteClientError) {
            state = Mutex(.open(Line(free: resources)))
            self.maximumWaiters = maximumWaiters
            self.closedError = closedError
        }

        var isOpen: Bool {
            state.withLock { state in
                if case .open = state { true } else { false }
            }
        }

        var waiterCount: Int {
            state.withLock { state in
                switch state {
                case .open(let line), .closing(let line, _): line.waiterCount
                case .closed: 0
                }
            }
        }

        /// - Throws: `cancelled`, `busy` if too many are waiting, or the error of closing.
        func borrow() async throws -> Resource {
            let number = nextNumber.wrappingAdd(1, ordering: .relaxed).newValue
            return try await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let answer = enter(Waiter(number: number, continuation: continuation))
                    if let answer { continuation.resume(returning: answer) }
                }
            } onCancel: {
                cancel(number)
            }.get()
        }

        /// - Returns: The waiter's immediate result; nil if it has to wait.
        private func enter(_ waiter: Waiter) -> Result<Resource, SQLiteClientError>? {
            // An earlier cancellation found no waiter. A later one finds the waiter, or the lent resource.
            state.withLock { state in
                if Task.isCancelled { return .failure(.cancelled) }
                guard case .open(var line) = state else { return .failure(closedError) }
                state = .closed
                defer { state = .open(line) }
                if let resource = line.free.popLast() {
                    line.lent += 1
                    return .success(resource)
                }
                guard line.waiterCount < maximumWaiters else { return .failure(.tooManyWaiters) }
                line.waiters.append(waiter)
                return nil
            }
        }

        private func cancel(_ number: UInt64) {
            let waiter = state.withLock { state -> Waiter? in
                switch state {
                case .open(var line):
                    state = .closed
                    defer { state = .open(line) }
                    return line.remove(number)
                case .closing(var line, let closers):
                    defer { state = .closing(line, closers: closers) }
                    return line.remove(number)
                case .closed: return nil
                }
            }
            waiter?.continuation.resume(returning: .failure(.cancelled))
        }

        func giveBack(_ resource: Resource) {
            let (waiter, closers) = state.withLock { state -> (Waiter?, [CheckedContinuation<Void, Never>]) in
                switch state {
                case .open(var line):
                    state = .closed
                    defer { state = .open(line) }
                    return (Self.pass(resource, in: &line), [])
                case .closing(var line, let closers):
                    let waiter = Self.pass(resource, in: &line)
                    state = line.lent == 0 ? .closed : .closing(line, closers: closers)
                    return (waiter, line.lent == 0 ? closers : [])
                case .closed: return (nil, [])
                }
            }
            waiter?.continuation.resume(returning: .success(resource))
            for closer in closers { closer.resume() }
        }

        private static func pass(_ resource: Resource, in line: inout Line) -> Waiter? {
            if let waiter = line.popFirst() { return waiter }
            line.lent -= 1
            line.free.append(resource)
            return nil
        }

        /// Refuses later requests.
        ///
        /// - Parameter waitersMayFinish: Whether waiting requests are still served.
        func beginClosing(waitersMayFinish: Bool) {
            let refused = state.withLock { state -> [Waiter] in
                guard case .open(var line) = state else { return [] }
                let refused = waitersMayFinish ? [] : line.removeAll()
                state = line.lent == 0 ? .closed : .closing(line, closers: [])
                return refused
            }
            for waiter in refused { waiter.continuation.resume(returning: .failure(closedError)) }
        }

        /// Waits, even in a cancelled task, until everything is returned.
        func close(waitersMayFinish: Bool) async {
            beginClosing(waitersMayFinish: waitersMayFinish)
            await withCheckedContinuation { closer in
                let isClosed = state.withLock { state in
                    guard case .closing(let line, let closers) = state else { return true }
                    state = .closing(line, closers: closers + [closer])
                    return false
                }
                if isClosed { closer.resume() }
            }
        }
    }
#endif
