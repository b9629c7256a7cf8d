internal import GRDB
internal import StorageCore
internal import StorageHistory
package import StorageLog
internal import Synchronization

/// The open store as a source of changes.
package final class LiveSource: FeedSource {
    private let engine: StorageEngine
    private let following = Mutex(Following())

    private struct Following {
        var observations: [StorageObservation] = []
        var columns: [UInt32] = []
    }

    package init(_ engine: StorageEngine) { self.engine = engine }

    package var emitsEvents: Bool { !engine.configuration.isReadOnly }

    package var needsInterests: Bool { false }

    package func read<Result>(_ interests: [Interest], _ body: (FeedState) throws -> Result) throws -> Result {
        try engine.readNow { db in
            let connection = try db.connection
            return try body(FeedState(rows: db, log: connection, position: try LogHead.load(db).position))
        }
    }

    package var readsBeside: Bool { true }

    package func readBeside(
        overlaying rows: [OptimisticRow], _ body: @escaping @Sendable (FeedState) throws -> Void
    ) async throws {
        try await engine.readFirst { db in
            try OptimisticTables.read(rows, in: db) {
                try body(FeedState(rows: db, log: try db.connection, position: try LogHead.load(db).position))
            }
        }
    }

    /// Limits on rows and on later events: beyond them, sending everything costs less than rebuilding the earlier
    /// state.
    private static let pastRowLimit = 200_000
    private static let pastEventLimit: Int64 = 20_000

    package func readPast(
        at state: KnownState, of interests: @escaping @Sendable (FeedState) throws -> [Interest],
        _ body: @escaping @Sendable (FeedState) throws -> Void
    ) async throws -> Bool {
        try await engine.readLong { db in
            let connection = try db.connection
            let (log, position) = (LogReader(connection), state.position)
            guard try state.isKnown(to: log), try log.head().position - position <= Self.pastEventLimit else {
                return false
            }
            let interests = try interests(FeedState(rows: db, log: connection, position: position))
            let names = Set(interests.map(\.entity)).sorted()
            let searched = Set(interests.filter(\.searches).map(\.entity)).sorted()
            let (then, now) = (try Catalog.load(connection, at: position), try Catalog.load(connection))
            for name in names {
                // A column that was added, with its default, or converted, is new in every row, and no event says so.
                guard let entity = now.entity(named: name), then.entity(id: entity.id)?.columns == entity.columns,
                    try !Self.hasMoreRows(than: Self.pastRowLimit, entity, db)
                else { return false }
            }
            let past = try MaterializedSnapshot(at: position, of: db, schema: .current)
            try past.read(names, searching: searched, from: db) { rows in
                try body(FeedState(rows: rows, log: connection, position: position))
            }
            return true
        }
    }

    private static func hasMoreRows(than limit: Int, _ entity: CatalogEntity, _ db: GRDB.Database) throws -> Bool {
        try Row.fetchOne(
            db, sql: "SELECT 1 FROM \(quoted(entity.stored)) LIMIT 1 OFFSET \(limit)") != nil
    }

    package func requestColumns(_ columns: [UInt32]) {
        following.withLock { following in
            following.columns = columns
            if !following.observations.isEmpty { engine.observers.requestedColumns.request(columns, for: self) }
        }
    }

    package func start(_ inbox: CommitInbox, closed: @escaping @Sendable () -> Void) {
        var new: [StorageObservation] = []
        let emitsEvents = emitsEvents
        if emitsEvents { new.append(engine.observers.add(closed: closed) { inbox.take($0) }) }
        // If events aren't emitted, closing the store wakes the engine too, which then finds it closed.
        new.append(engine.onCommit { inbox.ring(hasCommits: !emitsEvents) })
        following.withLock { following in
            following.observations = new
            engine.observers.requestedColumns.request(following.columns, for: self)
        }
    }

    package func stop() {
        let old = following.withLock { following in
            defer { following.observations = [] }
            if !following.observations.isEmpty { engine.observers.requestedColumns.request([], for: self) }
            return following.observations
        }
        for observation in old { observation.cancel() }
    }

    package func onCommit(_ body: @escaping @Sendable () -> Void) -> StorageObservation { engine.onCommit(body) }

    package func onClose(_ body: @escaping @Sendable () -> Void) -> StorageObservation { engine.onClose(body) }

    deinit { engine.observers.requestedColumns.request([], for: self) }
}
