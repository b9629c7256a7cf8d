package import GRDB
internal import StorageCore
package import StorageLog

/// One state of a store, open for reading its history; the facade's own calls and the command line all use it.
///
/// Not `Sendable`: it is valid inside one read, on its connection's thread.
package final class HistoryReader {
    package let database: GRDB.Database
    package let connection: Connection
    package let catalog: Catalog
    package let log: LogReader
    package let index: LogIndex
    package let tags: TagReader

    package var head: LogHead { index.head }
    package var points: PointResolver { PointResolver(log: log, index: index, tags: tags) }

    package init(_ database: GRDB.Database) throws {
        let connection = try database.connection
        self.database = database
        self.connection = connection
        catalog = try Catalog.load(connection)
        log = LogReader(connection)
        index = try LogIndex(log)
        tags = TagReader(log)
    }
}

extension HistoryReader {
    /// The event at a position; nil if there is none.
    package func event(at position: Int64) throws -> StorageEvent? {
        guard position >= 1, let batch = try log.batch(containing: position) else { return nil }
        return batch.event(at: Int(position - batch.header.first), catalog: catalog)
    }

    /// Calls `body` with all events of a commit, including those of the store's own entities, oldest first, until it returns false.
    package func forEachEvent(
        of commit: LogIndex.Commit, _ body: (EventBatch, _ index: Int) throws -> Bool
    ) throws {
        var query = LogQuery()
        query.positions = commit.positions
        query.includesSchema = true
        try log.forEachEvent(query, catalog: catalog) { batch, index, _ in try body(batch, index) }
    }

    /// Returns the commit with all of its events counted.
    package func summary(of commit: LogIndex.Commit) throws -> CommitSummary {
        var tally = CommitTally(info: commit.info, positions: commit.positions)
        try forEachEvent(of: commit) { batch, index in
            batch.withView { tally.add($0.shape(of: index)) }
            return true
        }
        return tally.summary(catalog)
    }
}

extension StorageEngine {
    /// Runs `body` on one state of the store.
    package func readHistory<Result: Sendable>(
        _ body: @escaping @Sendable (HistoryReader) throws -> Result
    ) async throws -> Result {
        try await read { try body(HistoryReader($0)) }
    }
}

extension Storage {
    /// Runs `body` on one state of the store.
    package func readHistory<Result: Sendable>(
        _ body: @escaping @Sendable (HistoryReader) throws -> Result
    ) async throws -> Result {
        try await engine.readHistory(body)
    }
}
