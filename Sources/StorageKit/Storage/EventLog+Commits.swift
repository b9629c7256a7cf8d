internal import StorageCore
public import StorageLog

extension EventLog {
    /// The commits with events that match a query, as ``EventLog/commits(_:)`` returns them.
    public struct Commits: AsyncSequence, Sendable {
        public typealias Element = CommitSummary
        let engine: StorageEngine
        let query: LogQuery

        public func makeAsyncIterator() -> Iterator { Iterator(engine: engine, query: query) }

        public struct Iterator: AsyncIteratorProtocol {
            /// The maximum number of commits that are held at a time.
            private static let pageSize = 1_024
            /// The number of segments that one read decodes, so that no read lasts long even if matches are rare.
            private static let rowsPerRead = 64
            private let engine: StorageEngine
            private let query: LogQuery
            /// The positions left to read; nil at the end.
            private var positions: ClosedRange<Int64>?
            private var buffer: ArraySlice<CommitSummary> = []

            init(engine: StorageEngine, query: LogQuery) {
                self.engine = engine
                self.query = query
                positions = query.positions
            }

            /// Returns the next commit; nil at the end.
            ///
            /// - Throws: ``StorageError`` if the log can't be read: `corrupt`, `io-error`, `closed`.
            public mutating func next() async throws -> CommitSummary? {
                while buffer.isEmpty, let positions {
                    var query = query
                    query.positions = positions
                    let (commits, rest) = try await Self.page(engine, query)
                    buffer = commits[...]
                    self.positions = rest
                }
                return buffer.popFirst()
            }

            /// Reads the next commits, and returns the positions that remain after them.
            private static func page(
                _ engine: StorageEngine, _ query: LogQuery
            ) async throws -> (commits: [CommitSummary], rest: ClosedRange<Int64>?) {
                try await engine.readHistory { history in
                    var assembly = CommitAssembly(history.index, history.catalog, descending: query.descending)
                    var commits: [CommitSummary] = []
                    var row: Int64?
                    var rows = 0
                    // The positions of the commit or segment after which reading has stopped.
                    var reached: ClosedRange<Int64>?
                    let take = { (commit: CommitSummary) in
                        commits.append(commit)
                        if commits.count == Self.pageSize { reached = commit.positions }
                        return reached == nil
                    }
                    var last: ClosedRange<Int64>?
                    try history.log.forEachPart(query, catalog: history.catalog) { batch, part in
                        if batch.header.first != row {
                            if rows >= Self.rowsPerRead, !assembly.isOpen {
                                reached = last
                                return false
                            }
                            row = batch.header.first
                            rows += 1
                        }
                        last = batch.header.first...batch.header.last
                        return try assembly.add(part, of: batch, take)
                    }
                    if reached == nil { _ = try assembly.finish(take) }
                    // Commits may have been made meanwhile: when reading forward, only a read that finds none is the last.
                    if reached == nil, !query.descending { reached = commits.last?.positions }
                    return (commits, reached.flatMap { query.rest(behind: $0) })
                }
            }
        }
    }
}

extension LogQuery {
    /// Returns the positions that remain in the query's order after some were read; nil if none remain.
    func rest(behind read: ClosedRange<Int64>) -> ClosedRange<Int64>? {
        if descending {
            return read.lowerBound > positions.lowerBound ? positions.lowerBound...read.lowerBound - 1 : nil
        }
        return read.upperBound < positions.upperBound ? read.upperBound + 1...positions.upperBound : nil
    }
}
