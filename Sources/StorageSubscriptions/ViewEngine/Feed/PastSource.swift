internal import GRDB
internal import StorageCore
package import StorageLog
internal import StorageProjections
internal import Synchronization

/// The past of a store as a source of changes: a state that is moved through the log, forward and back, until it is let
/// go to follow the store.
///
/// Isolation: `Sendable`; its state is behind a mutex, and moved only by ``move(to:)``, one call at a time.
package final class PastSource: FeedSource {
    private struct Place {
        var past: PastState?
        var position: Int64
        /// How many pasts were made; those of the store itself are the tables with the number 0.
        var tables = 0
        /// Whether it follows the store itself.
        var isLive = false
        var closed: (@Sendable () -> Void)?
        var inbox: CommitInbox?
        /// Tells that the store is closed, which a past isn't told of otherwise.
        var ending: CommitObservation?
    }

    private let engine: StorageEngine
    private let live: LiveSource
    private let place: Mutex<Place>

    package init(_ engine: StorageEngine, at position: Int64) {
        self.engine = engine
        live = LiveSource(engine)
        place = Mutex(Place(position: position))
    }

    package var position: Int64 { place.withLock { $0.position } }
    package var isLive: Bool { place.withLock { $0.isLive } }
    package var tellsEvents: Bool { isLive && live.tellsEvents }
    package var needsInterests: Bool { true }

    package func read<Result>(_ interests: [Interest], _ body: (FeedState) throws -> Result) throws -> Result {
        let (known, position, isLive) = place.withLock { ($0.past, $0.position, $0.isLive) }
        guard !isLive else { return try live.read([], body) }
        return try engine.readNow { db in
            guard let connection = db.sqliteConnection else { throw StorageError.closed() }
            let past = try known ?? PastState(at: position, of: db, schema: schema(at: position, connection))
            let tables = place.withLock { place in
                if place.past !== past { (place.past, place.tables) = (past, place.tables + 1) }
                return place.tables
            }
            let searched = Set(interests.filter(\.searches).map(\.entity))
            return try past.read(Set(interests.map(\.entity)).sorted(), searching: searched.sorted(), from: db) {
                rows in
                try body(FeedState(rows: rows, log: connection, position: position, tables: tables))
            }
        }
    }

    /// Tables of then can be moved; where the schema was another, they are made anew in the shape of now.
    private func schema(at position: Int64, _ connection: OpaquePointer) throws -> PastSchema {
        try Catalog.load(connection, at: position) == Catalog.load(connection) ? .then : .now
    }

    /// Goes to another position. Nobody may read meanwhile.
    package func move(to position: Int64) throws {
        let past = place.withLock { $0.past }
        let isMoved = try engine.readNow { db in try past?.move(to: position, from: db) ?? false }
        let wasLive = place.withLock { place in
            defer { place.isLive = false }
            if !isMoved { place.past = nil }
            place.position = position
            return place.isLive
        }
        if wasLive { live.stop() }
    }

    /// Follows the store from here on.
    package func goLive() {
        let started = place.withLock { place -> (CommitInbox, @Sendable () -> Void)? in
            guard !place.isLive else { return nil }
            place.isLive = true
            place.past = nil
            guard let inbox = place.inbox, let closed = place.closed else { return nil }
            return (inbox, closed)
        }
        guard let (inbox, closed) = started else { return }
        live.start(inbox, closed: closed)
        // What lies between the moment that was shown and now hasn't been told.
        inbox.ring(isNews: true)
    }

    package func ask(for columns: [UInt32]) { live.ask(for: columns) }

    package func start(_ inbox: CommitInbox, closed: @escaping @Sendable () -> Void) {
        let ending = onClose(closed)
        let isLive = place.withLock { place in
            (place.inbox, place.closed, place.ending) = (inbox, closed, ending)
            return place.isLive
        }
        if isLive { live.start(inbox, closed: closed) }
    }

    package func stop() {
        place.withLock { ($0.inbox, $0.closed, $0.ending) = (nil, nil, nil) }
        live.stop()
    }

    package func onClose(_ body: @escaping @Sendable () -> Void) -> CommitObservation { live.onClose(body) }
}
