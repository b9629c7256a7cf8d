internal import GRDB
internal import StorageCore
package import StorageHistory
package import StorageLog
internal import Synchronization

/// The history of a store as a source of changes: a state that is moved through the log, forward and back, until it
/// goes live and follows the store.
///
/// Isolation: `Sendable`; its state is behind a mutex, and moved only by ``move(to:)``, one call at a time.
package final class ReplaySource: FeedSource {
    /// What is shown: equal for two moments between which nothing was moved.
    struct Moment: Equatable, Sendable {
        let position: Int64
        let isLive: Bool
    }

    private struct State {
        var snapshot: MaterializedSnapshot?
        var position: Int64
        /// The number of snapshots that were built; 0 identifies the store's own tables.
        var tables = 0
        /// Whether it follows the store itself.
        var isLive = false
        var closed: (@Sendable () -> Void)?
        var inbox: CommitInbox?
        /// Reports that the store is closed, which a snapshot doesn't notice otherwise.
        var ending: StorageObservation?
    }

    private let engine: StorageEngine
    private let live: LiveSource
    private let upcasts: [String: Upcast]
    private let state: Mutex<State>

    /// - Parameter upcasts: The program's conversions of columns, by their titles.
    package init(_ engine: StorageEngine, at position: Int64, upcasts: [String: Upcast] = [:]) {
        self.engine = engine
        self.upcasts = upcasts
        live = LiveSource(engine)
        state = Mutex(State(position: position))
    }

    package var position: Int64 { state.withLock { $0.position } }
    package var isLive: Bool { state.withLock { $0.isLive } }
    var moment: Moment { state.withLock { Moment(position: $0.position, isLive: $0.isLive) } }
    package var emitsEvents: Bool { isLive && live.emitsEvents }
    package var needsInterests: Bool { true }

    package func read<Result>(_ interests: [Interest], _ body: (FeedState) throws -> Result) throws -> Result {
        let (known, position, isLive) = state.withLock { ($0.snapshot, $0.position, $0.isLive) }
        guard !isLive else { return try live.read([], body) }
        return try engine.readNow { db in
            let connection = try db.connection
            let snapshot =
                try known
                ?? MaterializedSnapshot(
                    at: position, of: db, schema: schema(at: position, connection), upcasts: upcasts)
            let tables = state.withLock { state in
                if state.snapshot !== snapshot { (state.snapshot, state.tables) = (snapshot, state.tables + 1) }
                return state.tables
            }
            let searched = Set(interests.filter(\.searches).map(\.entity))
            return try snapshot.read(Set(interests.map(\.entity)).sorted(), searching: searched.sorted(), from: db) {
                rows in
                try body(FeedState(rows: rows, log: connection, position: position, tables: tables))
            }
        }
    }

    /// Tables as recorded can be moved; where the schema was another, they are made again with the current one.
    private func schema(at position: Int64, _ connection: Connection) throws -> SnapshotSchema {
        try Catalog.load(connection, at: position) == Catalog.load(connection) ? .asRecorded : .current
    }

    /// Moves to another position. Nothing may read it meanwhile.
    package func move(to position: Int64) throws {
        let snapshot = state.withLock { $0.snapshot }
        let isMoved = try engine.readNow { db in try snapshot?.move(to: position, from: db) ?? false }
        let wasLive = state.withLock { state in
            defer { state.isLive = false }
            if !isMoved { state.snapshot = nil }
            state.position = position
            return state.isLive
        }
        if wasLive { live.stop() }
    }

    /// Follows the store from here on.
    package func goLive() {
        let started = state.withLock { state -> (CommitInbox, @Sendable () -> Void)? in
            guard !state.isLive else { return nil }
            state.isLive = true
            state.snapshot = nil
            guard let inbox = state.inbox, let closed = state.closed else { return nil }
            return (inbox, closed)
        }
        guard let (inbox, closed) = started else { return }
        live.start(inbox, closed: closed)
        // What lies between the position that was shown and now isn't in the inbox.
        inbox.ring(hasCommits: true)
    }

    package func requestColumns(_ columns: [UInt32]) { live.requestColumns(columns) }

    package func start(_ inbox: CommitInbox, closed: @escaping @Sendable () -> Void) {
        let ending = onClose(closed)
        let isLive = state.withLock { state in
            (state.inbox, state.closed, state.ending) = (inbox, closed, ending)
            return state.isLive
        }
        if isLive { live.start(inbox, closed: closed) }
    }

    package func stop() {
        state.withLock { ($0.inbox, $0.closed, $0.ending) = (nil, nil, nil) }
        live.stop()
    }

    package func onClose(_ body: @escaping @Sendable () -> Void) -> StorageObservation { live.onClose(body) }
}
