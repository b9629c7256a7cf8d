internal import GRDB
package import StorageCore

/// The changes after a position, commit by commit: first those that exist already, then each new one.
///
/// ```swift
/// let changes: ChangeStream = storage.changes(since: .head)
/// for try await change in changes { print(change.commit.number, change.events.count) }
/// ```
///
/// Every iteration begins at the same position. It returns each commit once, in order, without a gap between old and
/// new ones. It reads on demand, so a slow reader blocks no writer and costs no memory, and a reader may stop at any
/// time.
///
/// It ends when the store is closed or the reader's task is cancelled. To receive the changes that weren't returned by
/// then, start from the token of the last returned change.
public struct ChangeStream: AsyncSequence, Sendable {
    public typealias Element = CommitChanges
    let engine: StorageEngine
    let start: ChangeStart
    let query: LogQuery

    package init(engine: StorageEngine, start: ChangeStart, query: LogQuery) {
        self.engine = engine
        self.start = start
        self.query = query
    }

    public func makeAsyncIterator() -> Iterator { Iterator(stream: self) }

    public struct Iterator: AsyncIteratorProtocol {
        /// The maximum number of events per page.
        private static let pageSize = 1_024
        private let engine: StorageEngine
        private let query: LogQuery
        private var cursor: ChangeStart
        private var buffer: ArraySlice<CommitChanges> = []
        private var bell: AsyncStream<Void>.Iterator?

        init(stream: ChangeStream) {
            engine = stream.engine
            query = stream.query
            cursor = stream.start
        }

        /// Returns the next changes; nil when the task is cancelled or the store is closed.
        ///
        /// - Throws: `StorageError`, for example with `corrupt` for a damaged log.
        public mutating func next() async throws -> CommitChanges? {
            do {
                while !Task.isCancelled {
                    if let changes = buffer.popFirst() { return changes }
                    // Before the first read, so that commits during it are noticed.
                    if bell == nil { bell = engine.commitBell().makeAsyncIterator() }
                    let page = try await engine.changes(since: cursor, matching: query, limit: Self.pageSize)
                    cursor = .known(page.next)
                    buffer = page.commits[...]
                    if buffer.isEmpty, await bell?.next() == nil { return nil }
                }
                return nil
            } catch let error as StorageError where error.code == .closed {
                return nil
            } catch is CancellationError {
                return nil
            }
        }
    }
}

/// Where reading of changes begins.
package enum ChangeStart: Sendable {
    case point(StoragePoint)
    case token(ChangeToken)
    /// A token that this open store has just returned.
    case known(ChangeToken)
}

extension StorageEngine {
    /// The next page of changes.
    package func changes(since start: ChangeStart, matching query: LogQuery, limit: Int) async throws -> ChangePage {
        guard limit > 0 else {
            throw StorageError(
                .invalidArgument, "A page can't have \(limit) events.", remedy: "The limit must be at least 1.")
        }
        var pager = try await pager(since: start, matching: query, limit: limit)
        while true {
            try Task.checkCancellation()
            let before = pager
            let (after, page) = try await read { db in
                let connection = try db.connection
                var pager = before
                let page = try pager.read(LogReader(connection))
                return (pager, page)
            }
            if let page { return page }
            pager = after
        }
    }

    private func pager(since start: ChangeStart, matching query: LogQuery, limit: Int) async throws -> ChangePager {
        if case .known(let token) = start { return ChangePager(after: token, matching: query, limit: limit) }
        let token = try await read { db in
            let connection = try db.connection
            let reader = LogReader(connection)
            switch start {
            case .point(let point): return try reader.token(at: reader.position(of: point))
            case .token(let token), .known(let token):
                try reader.check(token)
                return token
            }
        }
        return ChangePager(after: token, matching: query, limit: limit)
    }
}
