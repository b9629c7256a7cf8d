internal import GRDB
internal import StorageCore
internal import StorageLog
internal import Synchronization

/// Reads what a closure of SQL finds, now and whenever what it has read has changed.
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
        // Rung a last time when the store is closed.
        observation = storage.engine.onCommit { bell.yield() }
        bell.yield()
    }

    deinit { cancel() }

    /// Reads nothing any more: a reader that isn't wanted costs commits nothing from here on.
    func cancel() { observation.cancel() }

    /// What the last run has read; nil before the first run.
    var region: TrackedRegion? { last.withLock { $0?.region } }

    /// The next value, and the position of its state; nil where the store is closed or the task is cancelled.
    ///
    /// - Parameter onError: Takes what the closure throws; it runs again after the next commit. What it throws ends it.
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
                // It runs again whatever is committed.
                last.withLock { $0 = nil }
                try onError(error)
            }
        }
        return nil
    }
}

/// What a closure has read, and of which state.
private struct TrackedState: Sendable {
    let region: TrackedRegion
    let position: Int64
    /// SQLite's counter of schema changes: tables that are changed may be read in another way, and views aren't in the log.
    let schemaVersion: Int32

    /// Runs `body` on a state of the store.
    ///
    /// - Parameter known: Where it was run last; it isn't run where nothing has changed since that it has read.
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
