internal import GRDB
internal import StorageCore
internal import StorageLog
internal import Synchronization

/// Runs a closure of SQL now, and again whenever something that it has read changes.
///
/// Isolation: `Sendable`, its state behind a mutex; one task reads at a time.
final class TrackedReader<Value: Sendable>: Sendable {
    private let storage: Storage
    private let body: @Sendable (Database) throws -> Value
    private let rings: AsyncStream<Void>
    private let observation: StorageObservation
    private let last = Mutex<TrackedState?>(nil)

    init(_ storage: Storage, _ body: @escaping @Sendable (Database) throws -> Value) {
        self.storage = storage
        self.body = body
        let (rings, bell) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        self.rings = rings
        // The engine also calls this once when the store is closed.
        observation = storage.engine.onCommit { bell.yield() }
        bell.yield()
    }

    deinit { cancel() }

    /// Stops the reader; from here on it costs commits nothing.
    func cancel() { observation.cancel() }

    /// The region that the last run has read; nil before the first run.
    var region: TrackedRegion? { last.withLock { $0?.region } }

    /// Returns the next value and the position of its state; nil if the store is closed or the task is cancelled.
    ///
    /// - Parameter onError: Called with each error of the closure, which runs again after the next commit. An error that `onError` throws ends the
    ///   reader.
    func next<Failure: Error>(
        onError: (any Error) throws(Failure) -> Void
    ) async throws(Failure) -> (value: Value, position: Int64)? {
        for await _ in rings {
            let known = last.withLock { $0 }
            do {
                let found = try await storage.read { [body] db in try TrackedState.read(db, unless: known, body) }
                last.withLock { $0 = found.state }
                if let value = found.value { return (value, found.state.position) }
            } catch let error as StorageError where error.code == .closed {
                return nil
            } catch {
                // The end of the task is no failure.
                if Task.isCancelled { return nil }
                // Forgets the region, so that the closure runs again after any commit.
                last.withLock { $0 = nil }
                try onError(error)
            }
        }
        return nil
    }
}

/// The region that a closure has read, and the state it was read at.
struct TrackedState: Sendable {
    let region: TrackedRegion
    let position: Int64
    /// SQLite's counter of schema changes: a changed table may be read differently, and views aren't in the log.
    let schemaVersion: Int32

    /// Runs `body` on a state of the store.
    ///
    /// - Parameter known: The state of the last run; `body` doesn't run if nothing that it read has changed since.
    static func read<Value>(
        _ db: Database, unless known: TrackedState?, _ body: (Database) throws -> Value
    ) throws -> (value: Value?, state: TrackedState) {
        let position = try LogReader(try db.connection).head().position
        let schemaVersion = try db.schemaVersion()
        if let known, position >= known.position, schemaVersion == known.schemaVersion {
            let isConcerned =
                try position > known.position
                ? known.region.isConcerned(by: known.position + 1...position, db) : known.region.isUnknown
            guard isConcerned else {
                return (
                    nil, TrackedState(region: known.region, position: position, schemaVersion: schemaVersion)
                )
            }
        }
        let (value, region) = try TrackedRegion.reading(db, body)
        return (value, TrackedState(region: region, position: position, schemaVersion: schemaVersion))
    }
}
