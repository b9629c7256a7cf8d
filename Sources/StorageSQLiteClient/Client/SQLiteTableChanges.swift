internal import Synchronization

/// An asynchronous sequence of the observed tables that commits have changed.
///
/// ```swift
/// for try await tables in try await client.observeTables(["users", "posts"]) {
///     print("changed:", tables)
/// }
/// ```
///
/// An element contains the names of the tables that have changed since the previous one, spelled as in the call that
/// began the observation. A slow reader receives the tables of several commits as one element; nothing accumulates.
///
/// The sequence ends when its store or connection is closed or the reader's task is cancelled, and throws if it can't
/// continue. A GRDB queue or pool doesn't report that it was closed. The sequence is for a single reader: two iterators
/// share the elements.
///
/// Isolation: `Sendable`; a reference to the observation, which ends with its last copy.
public struct SQLiteTableChanges: AsyncSequence, Sendable {
    public typealias Element = Set<String>
    public typealias Failure = any Error

    private let observation: Observation

    /// Creates the sequence of the changes that an engine sends to a sink.
    ///
    /// - Parameter onEnd: Ends the engine's side; called when the sequence is cancelled or its last reference is
    ///   released.
    public init(_ sink: Sink, onEnd: @escaping @Sendable () -> Void) {
        observation = Observation(sink: sink, end: onEnd)
    }

    public func makeAsyncIterator() -> Iterator { Iterator(observation: observation) }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let observation: Observation

        /// Returns the next tables; nil at the end.
        ///
        /// - Throws: The error that ended the observation; ``SQLiteClientError`` with `invalid-argument` if another
        ///   reader is waiting.
        public mutating func next() async throws -> Set<String>? { try await observation.sink.next() }

        /// Returns the next tables; nil at the end.
        ///
        /// - Throws: As ``next()``.
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Set<String>? {
            try await observation.sink.next()
        }
    }

    /// Ends the observation: a waiting reader receives nil.
    public func cancel() { observation.cancel() }
}

/// A running observation. Isolation: `Sendable`, immutable.
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
    /// Receives the tables that commits have changed from an engine.
    ///
    /// Isolation: `Sendable`; may be called from any thread, and never blocks.
    public final class Sink: Sendable {
        private enum State {
            /// No reader is waiting; these tables have changed since the last element.
            case gathering(Set<String>)
            case waiting(CheckedContinuation<Set<String>?, any Error>)
            /// The last tables and the final error, which the reader hasn't received yet.
            case ending(Set<String>, error: (any Error)?)
            case ended
        }
        /// Creates a sink for one observation.

        private let state = Mutex(State.gathering([]))

        /// Creates a sink for one observation.
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

        /// Ends the sequence after what was sent. Only the first call has an effect.
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
