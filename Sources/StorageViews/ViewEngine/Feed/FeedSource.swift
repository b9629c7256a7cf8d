package import GRDB
package import StorageLog

/// The history that a ``SubscriptionEngine`` follows: the live store, or a replay.
package protocol FeedSource: Sendable {
    /// Whether commits of this process are emitted with their events; otherwise they are read from the log.
    var emitsEvents: Bool { get }

    /// Whether reads must declare the entities that they read.
    var needsInterests: Bool { get }

    /// Runs `body` on one state, on the calling thread.
    ///
    /// - Parameter interests: What `body` may read.
    func read<Result>(_ interests: [Interest], _ body: (FeedState) throws -> Result) throws -> Result

    /// Whether there are connections beside that of ``read(_:_:)``.
    var readsBeside: Bool { get }

    /// Runs `body` on one state, on another connection and thread than ``read(_:_:)``, so that neither waits for the other.
    ///
    /// - Parameter rows: What is read as if it were stored, where the source is the store.
    func readBeside(
        overlaying rows: [OptimisticRow], _ body: @escaping @Sendable (FeedState) throws -> Void
    ) async throws

    /// Runs `body` as ``readBeside(overlaying:_:)`` does, on the rows of an earlier state, in the current schema.
    ///
    /// - Parameter interests: What `body` may read, computed on the current state.
    /// - Returns: False if that state can't be read or has too many rows; `body` isn't called then.
    func readPast(
        at state: KnownState, of interests: @escaping @Sendable (FeedState) throws -> [Interest],
        _ body: @escaping @Sendable (FeedState) throws -> Void
    ) async throws -> Bool

    /// Requests that each update is emitted with the values of columns, by their ids, also those that it doesn't
    /// change.
    func requestColumns(_ columns: [UInt32])

    /// Starts reporting commits to an inbox, until `stop` is called.
    ///
    /// - Parameters:
    ///   - inbox: Receives the commits.
    ///   - closed: Called when the source has ended.
    func start(_ inbox: CommitInbox, closed: @escaping @Sendable () -> Void)
    func stop()

    /// Calls `body` after each commit, until the observation is released; never where nothing can be read as if it were
    /// stored.
    func onCommit(_ body: @escaping @Sendable () -> Void) -> StorageObservation

    /// Calls `body` when the store is closed, at once if it is already, until the observation is released.
    func onClose(_ body: @escaping @Sendable () -> Void) -> StorageObservation
}

/// One state of a store: its rows, and the log that has led to them.
package struct FeedState {
    package let rows: GRDB.Database
    package let log: Connection
    /// The position that the rows reflect; the log may be longer.
    package let position: Int64
    /// Identifies the tables: a snapshot that is rebuilt or released is followed by other tables, which may compare
    /// texts differently even if the catalog is the same.
    package let tables: Int

    package init(rows: GRDB.Database, log: Connection, position: Int64, tables: Int = 0) {
        (self.rows, self.log, self.position, self.tables) = (rows, log, position, tables)
    }
}

extension FeedSource {
    package func onCommit(_ body: @escaping @Sendable () -> Void) -> StorageObservation { StorageObservation {} }

    package var readsBeside: Bool { false }

    package func readBeside(
        overlaying rows: [OptimisticRow], _ body: @escaping @Sendable (FeedState) throws -> Void
    ) async throws { try read([], body) }

    package func readPast(
        at state: KnownState, of interests: @escaping @Sendable (FeedState) throws -> [Interest],
        _ body: @escaping @Sendable (FeedState) throws -> Void
    ) async throws -> Bool { false }
}
