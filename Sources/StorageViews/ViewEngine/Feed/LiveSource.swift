internal import GRDB
internal import StorageCore
package import StorageLog
internal import Synchronization

/// The open store as a source of changes.
package final class LiveSource: FeedSource {
    private let engine: StorageEngine
    private let following = Mutex(Following())

    private struct Following {
        var observations: [CommitObservation] = []
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

    package func requestColumns(_ columns: [UInt32]) {
        following.withLock { following in
            following.columns = columns
            if !following.observations.isEmpty { engine.observers.requestedColumns.request(columns, for: self) }
        }
    }

    package func start(_ inbox: CommitInbox, closed: @escaping @Sendable () -> Void) {
        var new: [CommitObservation] = []
        let emitsEvents = emitsEvents
        if emitsEvents { new.append(engine.observers.add(closed: closed) { inbox.take($0) }) }
        // Where events aren't emitted, it rings when the store is closed too; whoever looks then finds it closed.
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

    package func onClose(_ body: @escaping @Sendable () -> Void) -> CommitObservation { engine.onClose(body) }

    deinit { engine.observers.requestedColumns.request([], for: self) }
}
