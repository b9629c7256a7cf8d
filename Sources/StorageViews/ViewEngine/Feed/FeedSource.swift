package import GRDB
package import StorageLog

/// Where a ``SubscriptionEngine`` follows a history: the live store, or a past that is replayed.
package protocol FeedSource: Sendable {
    /// Whether commits of this process are emitted with their events; otherwise they are read from the log.
    var emitsEvents: Bool { get }

    /// Whether it must know what is going to be read.
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

    /// Runs `body` as ``readBeside(overlaying:_:)`` does, on the rows of an earlier state, in today's schema.
    ///
    /// - Parameter interests: What `body` may read, asked for on the current state.
    /// - Returns: False where that state can't be read, or its rows are too many; nothing has run then.
    func readPast(
        at state: KnownState, of interests: @escaping @Sendable (FeedState) throws -> [Interest],
        _ body: @escaping @Sendable (FeedState) throws -> Void
    ) async throws -> Bool

    /// Asks for the values of columns, by their ids, to be emitted with each update, also where it leaves them alone.
    func requestColumns(_ columns: [UInt32])

    /// Begins to report commits to an inbox, until `stop` is called.
    ///
    /// - Parameters:
    ///   - inbox: Takes in what is committed.
    ///   - closed: Called when nothing will come any more.
    func start(_ inbox: CommitInbox, closed: @escaping @Sendable () -> Void)
    func stop()

    /// Calls `body` when the store is closed, at once where it is already, until the observation is let go of.
    func onClose(_ body: @escaping @Sendable () -> Void) -> StorageObservation
}

/// One state of a store: its rows, and the log that has led to them.
package struct FeedState {
    package let rows: GRDB.Database
    package let log: Connection
    /// The position that the rows reflect; the log may go on behind it.
    package let position: Int64
    /// Which tables these are: a snapshot that is made again, or let go of, has others, which may compare texts differently
    /// though the catalog says the same of them.
    package let tables: Int

    package init(rows: GRDB.Database, log: Connection, position: Int64, tables: Int = 0) {
        (self.rows, self.log, self.position, self.tables) = (rows, log, position, tables)
    }
}

extension FeedSource {
    package var readsBeside: Bool { false }

    package func readBeside(
        overlaying rows: [OptimisticRow], _ body: @escaping @Sendable (FeedState) throws -> Void
    ) async throws { try read([], body) }

    package func readPast(
        at state: KnownState, of interests: @escaping @Sendable (FeedState) throws -> [Interest],
        _ body: @escaping @Sendable (FeedState) throws -> Void
    ) async throws -> Bool { false }
}
