internal import Foundation
package import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// The table that stores the state of query sources, beside their rows and changed in the same commits. It isn't an
/// entity: a request that brings nothing new leaves nothing in the log.
enum SourceStateTable {
    static let name = "query_source_state"

    private static let creation = """
        CREATE TABLE IF NOT EXISTS \(name) (
          source TEXT NOT NULL, parameter TEXT NOT NULL, policy TEXT NOT NULL,
          refreshed_at INTEGER, attempted_at INTEGER, failures INTEGER NOT NULL, error TEXT, retry_at INTEGER,
          stale_at INTEGER, validator TEXT, position INTEGER NOT NULL, refresh TEXT NOT NULL,
          end_position INTEGER NOT NULL, line BLOB NOT NULL, \(later.joined(separator: ", ")),
          PRIMARY KEY (source, parameter)
        ) WITHOUT ROWID
        """

    /// Columns that tables of earlier versions don't have.
    private static let later = [
        "refused INTEGER NOT NULL DEFAULT 0", "query TEXT", "closed INTEGER NOT NULL DEFAULT 0",
    ]

    private static func create(in db: Database) throws {
        guard try db.connection.hasTable(name) else { return try db.execute(sql: creation) }
        let columns = Set(try db.columns(in: name).map(\.name))
        for column in later where !columns.contains(String(column.prefix { $0 != " " })) {
            try db.execute(sql: "ALTER TABLE \(name) ADD COLUMN \(column)")
        }
    }

    /// Times are microseconds since 1970.
    static func save(_ status: QuerySourceStatus, in db: Database) throws {
        try create(in: db)
        try db.execute(
            sql: """
                INSERT OR REPLACE INTO \(name)(
                  source, parameter, policy, refreshed_at, attempted_at, failures, error, retry_at, stale_at, validator,
                  position, refresh, end_position, line, refused, query, closed
                ) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                status.source, status.parameter, status.policy, microseconds(status.lastRefresh),
                microseconds(status.lastAttempt), status.failures, status.lastError, microseconds(status.retryTime),
                microseconds(status.staleTime), status.validator, status.position, status.refresh,
                status.end, Data(status.line), status.isRefused, status.query, status.isClosed,
            ])
    }

    /// The state of a source; that of a source that was never fetched if nothing is stored.
    static func status(source: String, parameter: String, in db: Database) throws -> QuerySourceStatus {
        let rows = try statuses("WHERE source = ? AND parameter = ?", [source, parameter], in: db)
        return rows.first ?? QuerySourceStatus(source: source, parameter: parameter)
    }

    static func all(in db: Database) throws -> [QuerySourceStatus] {
        try statuses("ORDER BY source, parameter", in: db)
    }

    private static func statuses(
        _ clauses: String, _ arguments: StatementArguments = [], in db: Database
    ) throws -> [QuerySourceStatus] {
        let connection = try db.connection
        guard try connection.hasTable(name) else { return [] }
        let head = try LogReader(connection).head().position
        let lineage = try StoreLineage.load(connection)
        return try Row.fetchAll(db, sql: "SELECT * FROM \(name) \(clauses)", arguments: arguments).map { row in
            var status = QuerySourceStatus(source: row["source"], parameter: row["parameter"])
            status.policy = row["policy"]
            status.end = row["end_position"]
            status.line = Array(row["line"] as Data)
            // A store that was restored to an earlier point contains old rows, and was never fetched since.
            guard status.end <= head, status.line.isEmpty || status.line == lineage.line(of: status.end).id else {
                return QuerySourceStatus(source: status.source, parameter: status.parameter)
            }
            status.lastRefresh = date(row["refreshed_at"])
            status.lastAttempt = date(row["attempted_at"])
            status.failures = row["failures"]
            status.lastError = row["error"]
            status.retryTime = date(row["retry_at"])
            status.staleTime = date(row["stale_at"])
            status.validator = row["validator"]
            status.position = row["position"]
            status.refresh = row["refresh"]
            status.isRefused = row["refused"] as Bool? ?? false
            status.query = row["query"]
            status.isClosed = row["closed"] as Bool? ?? false
            return status
        }
    }

    private static func microseconds(_ date: Date?) -> Int64? {
        date.flatMap { Int64(exactly: ($0.timeIntervalSince1970 * 1_000_000).rounded()) }
    }

    private static func date(_ microseconds: Int64?) -> Date? {
        microseconds.map { Date(microseconds: $0) }
    }
}

extension QuerySourceStatus {
    /// The state of every source that was ever fetched into a store, by name.
    package static func all(in db: GRDB.Database) throws -> [QuerySourceStatus] { try SourceStateTable.all(in: db) }
}

extension Storage {
    /// Returns the state of every query source that was ever fetched into this store, sorted by name.
    ///
    /// - Throws: Errors of the store.
    public func querySourceStatuses() async throws -> [QuerySourceStatus] {
        try await engine.read { try SourceStateTable.all(in: $0) }
    }

    func status<Element>(of source: QuerySource<Element>) async throws -> QuerySourceStatus {
        let (name, parameter) = (source.name, source.parameter)
        return try await engine.read { try SourceStateTable.status(source: name, parameter: parameter, in: $0) }
    }

    /// The same on the calling thread.
    func statusNow<Element>(of source: QuerySource<Element>) throws -> QuerySourceStatus {
        try engine.readNow { try SourceStateTable.status(source: source.name, parameter: source.parameter, in: $0) }
    }
}
