internal import Synchronization

/// Which of the observed tables commits have changed, as an asynchronous sequence.
///
/// ```swift
/// for try await tables in try await client.observeTables(["users", "posts"]) {
///     print("changed:", tables)
/// }
/// ```
///
/// An element is the names of the tables that have changed since the one before, spelt as in the call that began it. A
/// reader that is slow is given the tables of several commits as one element; nothing piles up.
///
/// The sequence ends when its store or connection is closed or the reader's task is cancelled, and throws if it can't
/// continue. A queue
/// or pool of GRDB doesn't report that it was closed. It is for one reader: of two iterators each is given a part.
///
/// Isolation: `Sendable`; a reference to the observation, which ends with the last copy of it.
public struct SQLiteTableChanges: AsyncSequence, Sendable {
    public typealias Element = Set<String>
    public typealias Failure = any Error

    private let observation: Observation

    /// The changes that an engine puts into a sink.
    ///
    /// - Parameter onEnd: Ends the engine's side of it; called when the sequence is cancelled or nobody holds it any more.
    public init(_ sink: Sink, onEnd: @escaping @Sendable () -> Void) {
        observation = Observation(sink: sink, end: onEnd)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(observation: observation) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let observation: Observation

        public mutating func next() async throws -> Set<String>? { try await observation.sink.next() }

        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Set<String>? {
            try await observation.sink.next()
        }
    }

    /// Ends the observation: whoever waits for an element is given nil.
    public func cancel() { observation.cancel() }
}

/// An observation that is under way. Isolation: `Sendable`, immutable.
private final class Observation: Sendable {
    let sink: SQLiteTableChanges.Sink
    private let end: @Sendable () -> Void

    init(sink: SQLiteTableChanges.Sink, end: @escaping @Sendable () -> Void) {
        self.sink = sink
        self.end = end
    }

    func cancel() {
        end()
        sink.finish()
    }

    deinit { cancel() }
}

extension SQLiteTableChanges {
    /// Where an engine puts the tables that commits have changed.
    ///
    /// Isolation: `Sendable`; may be called from any thread, and never waits.
    public final class Sink: Sendable {
        private enum State {
            /// Nobody waits; these have changed since the last element.
            case gathering(Set<String>)
            case waiting(CheckedContinuation<Set<String>?, any Error>)
            /// The last tables, and why there are no more, which the reader hasn't seen yet.
            case ending(Set<String>, error: (any Error)?)
            case ended
        }

        private let state = Mutex(State.gathering([]))

        public init() {}

        /// Adds tables that a commit has changed.
        public func send(_ tables: Set<String>) {
            guard !tables.isEmpty else { return }
            let reader: CheckedContinuation<Set<String>?, any Error>? = state.withLock {
                switch $0 {
                case .gathering(let pending):
                    $0 = .gathering(pending.union(tables))
                    return nil
                case .waiting(let reader):
                    $0 = .gathering([])
                    return reader
                case .ending, .ended: return nil
                }
            }
            reader?.resume(returning: tables)
        }

        /// Ends the sequence behind what was sent. Only the first call counts.
        public func finish(throwing error: (any Error)? = nil) {
            let reader: CheckedContinuation<Set<String>?, any Error>? = state.withLock {
                switch $0 {
                case .gathering(let pending):
                    $0 = .ending(pending, error: error)
                    return nil
                case .waiting(let reader):
                    $0 = .ended
                    return reader
                case .ending, .ended: return nil
                }
            }
            if let error { reader?.resume(throwing: error) } else { reader?.resume(returning: nil) }
        }

        fileprivate func next() async throws -> Set<String>? {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { take($0) }
            } onCancel: {
                finish()
            }
        }

        private func take(_ reader: CheckedContinuation<Set<String>?, any Error>) {
            let outcome: Result<Set<String>?, any Error>? = state.withLock {
                switch $0 {
                case .gathering(let pending) where pending.isEmpty:
                    $0 = .waiting(reader)
                    return nil
                case .gathering(let pending):
                    $0 = .gathering([])
                    return .success(pending)
                case .waiting:
                    return .failure(
                        SQLiteClientError(
                            .invalidArgument, "Two readers wait for the same changes of tables.",
                            remedy: "Begin an observation for each reader."))
                case .ending(let pending, let error) where pending.isEmpty:
                    $0 = .ended
                    return error.map { .failure($0) } ?? .success(nil)
                case .ending(let pending, let error):
                    $0 = .ending([], error: error)
                    return .success(pending)
                case .ended: return .success(nil)
                }
            }
            if let outcome { reader.resume(with: outcome) }
        }
    }
}
