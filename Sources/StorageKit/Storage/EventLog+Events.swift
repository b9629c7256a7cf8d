public import StorageLog

extension EventLog {
    /// The events that match a query, as ``EventLog/events(_:)`` returns them.
    public struct Events: AsyncSequence, Sendable {
        public typealias Element = StorageEvent
        let engine: StorageEngine
        let query: LogQuery

        public func makeAsyncIterator() -> Iterator { Iterator(engine: engine, query: query) }

        public struct Iterator: AsyncIteratorProtocol {
            private let engine: StorageEngine
            private var query: LogQuery
            private var buffer: [StorageEvent] = []
            private var next = 0

            init(engine: StorageEngine, query: LogQuery) {
                self.engine = engine
                self.query = query
            }

            /// Returns the next event; nil at the end.
            ///
            /// - Throws: ``StorageError`` if the log can't be read: `corrupt`, `io-error`, `closed`.
            public mutating func next() async throws -> StorageEvent? {
                while next >= buffer.count {
                    guard let page = try await Self.page(engine, query) else { return nil }
                    buffer = page.events
                    next = 0
                    guard let rest = page.rest else {
                        if buffer.isEmpty { return nil }
                        // Nothing can follow: query an empty range.
                        query.positions = query.descending ? 0...0 : Int64.max...Int64.max
                        break
                    }
                    query.positions = rest
                }
                defer { next += 1 }
                return buffer[next]
            }

            /// Reads the matching events of the next segment, and returns the positions that remain.
            private static func page(
                _ engine: StorageEngine, _ query: LogQuery
            ) async throws -> (events: [StorageEvent], rest: ClosedRange<Int64>?)? {
                try await engine.readHistory { history in
                    var events: [StorageEvent] = []
                    var row: ClosedRange<Int64>?
                    try history.log.forEachEvent(query, catalog: history.catalog) { batch, index, commit in
                        let positions = batch.header.first...batch.header.last
                        if row == nil { row = positions }
                        guard row == positions else { return false }
                        events.append(batch.event(at: index, catalog: history.catalog, commit: commit))
                        return true
                    }
                    guard let row else { return nil }
                    return (events, query.rest(behind: row))
                }
            }
        }
    }
}
