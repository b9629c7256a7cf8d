internal import GRDB
internal import StorageCore
public import StorageLog

extension Storage {
    /// The log, to read from any position in either direction.
    public var log: EventLog { EventLog(engine: engine) }
}

/// Reads the log of an open store.
///
/// ```swift
/// for try await event in storage.log.events() {
///     print(event.position, event.operation, event.table)
/// }
/// ```
public struct EventLog: Sendable {
    let engine: StorageEngine

    /// The matching events, read a segment at a time, so that memory use doesn't grow with the log.
    ///
    /// Events that are committed while the sequence runs forward are part of it.
    public func events(_ query: LogQuery = LogQuery()) -> Events { Events(engine: engine, query: query) }

    /// Calls `body` with each decoded segment that holds any of `positions`, oldest first, until it returns false:
    /// the fastest way through the log.
    ///
    /// - Parameter body: Runs inside one read of the store, so it sees one state of the log, and the write-ahead log isn't cut
    ///   until it ends. Other reads don't wait for it; see ``StorageConfig/longReaderCount``.
    /// - Throws: What `body` throws; ``StorageError``: `closed`, `corrupt` for a row that can't be decoded.
    public func forEachBatch(
        in positions: ClosedRange<Int64> = 1...Int64.max, _ body: @escaping @Sendable (EventBatch) throws -> Bool
    ) async throws {
        try await engine.readLong { db in
            let connection = try db.connection
            try LogReader(connection).forEachBatch(in: positions, body)
        }
    }

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

            /// - Throws: ``StorageError``: `closed`, `corrupt` for a segment that can't be decoded.
            public mutating func next() async throws -> StorageEvent? {
                while next >= buffer.count {
                    guard let page = try await Self.page(engine, query) else { return nil }
                    buffer = page.events
                    next = 0
                    guard let rest = page.rest else {
                        if buffer.isEmpty { return nil }
                        // Nothing can follow: ask for a range that holds nothing.
                        query.positions = query.descending ? 0...0 : Int64.max...Int64.max
                        break
                    }
                    query.positions = rest
                }
                defer { next += 1 }
                return buffer[next]
            }

            /// The matching events of the next row of the log, and the positions that remain.
            private static func page(
                _ engine: StorageEngine, _ query: LogQuery
            ) async throws -> (events: [StorageEvent], rest: ClosedRange<Int64>?)? {
                try await engine.read { db in
                    let connection = try db.connection
                    let catalog = try Catalog.load(connection)
                    var events: [StorageEvent] = []
                    var row: ClosedRange<Int64>?
                    try LogReader(connection).forEachEvent(query, catalog: catalog) { batch, index, commit in
                        let positions = batch.header.first...batch.header.last
                        if row == nil { row = positions }
                        guard row == positions else { return false }
                        events.append(batch.event(at: index, catalog: catalog, commit: commit))
                        return true
                    }
                    guard let row else { return nil }
                    if query.descending {
                        let upper = row.lowerBound - 1
                        return (events, upper >= query.positions.lowerBound ? query.positions.lowerBound...upper : nil)
                    }
                    let lower = row.upperBound + 1
                    return (events, lower <= query.positions.upperBound ? lower...query.positions.upperBound : nil)
                }
            }
        }
    }
}
