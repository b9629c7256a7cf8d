package import GRDB

/// Where a ``SubscriptionEngine`` follows a history: the live store, or a past that is replayed.
package protocol FeedSource: Sendable {
    /// Whether commits of this process are told with their events; otherwise they are read from the log.
    var tellsEvents: Bool { get }

    /// Whether it must know what is going to be read.
    var needsInterests: Bool { get }

    /// Runs `body` on one state, on the calling thread.
    ///
    /// - Parameter interests: What `body` may read.
    func read<Result>(_ interests: [Interest], _ body: (FeedState) throws -> Result) throws -> Result

    /// Asks for the values of columns, by their ids, to be told with each update, also where it leaves them alone.
    func ask(for columns: [UInt32])

    /// Begins to tell of commits. Nothing is told before `stop` has been called as often as this.
    ///
    /// - Parameters:
    ///   - inbox: Takes in what is committed.
    ///   - closed: Called when nothing will come any more.
    func start(_ inbox: CommitInbox, closed: @escaping @Sendable () -> Void)
    func stop()
}

/// One state of a store: its rows, and the log that has led to them.
package struct FeedState {
    package let rows: GRDB.Database
    package let log: OpaquePointer
    /// The position that the rows reflect; the log may go on behind it.
    package let position: Int64
}
