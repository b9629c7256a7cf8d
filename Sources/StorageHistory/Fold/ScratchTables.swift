internal import CSQLite
internal import StorageCore
package import StorageLog

/// Tables in a temporary file of their own, into which the log is folded to see what the store's tables should hold.
///
/// Their columns have no types, so that every value stays exactly as in the event.
package final class ScratchTables {
    package let database: Connection

    package init() throws {
        // An empty name is a file that SQLite deletes when it is closed, and creates only when memory runs short.
        database = try Connection(
            opening: "", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
            orFailWith: "a temporary file can't be made")
        try database.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -32000")
        try PreparedStatement(
            database,
            "CREATE TABLE tombstone(entity INTEGER, key BLOB, position INTEGER, PRIMARY KEY (entity, key)) WITHOUT ROWID"
        ).execute()
    }

    deinit { database.close() }

    /// Creates the table of an entity.
    package func target(for entity: CatalogEntity) throws -> Fold.Target {
        let columns = entity.live.map { Self.name(of: $0) + $0.defaultClause }
        let key = entity.key.map(Self.name).joined(separator: ", ")
        let all = (columns + ["_position", "PRIMARY KEY (\(key))"]).joined(separator: ", ")
        try PreparedStatement(database, "CREATE TABLE \(Self.table(of: entity))(\(all))").execute()
        return Fold.Target(
            entity: entity, table: Self.table(of: entity), column: Self.name, tombstones: "tombstone")
    }

    /// Runs `body` in one transaction, to write many rows at its cost.
    func inTransaction<Result>(_ body: () throws -> Result) throws -> Result {
        try PreparedStatement(database, "BEGIN").execute()
        let result = Swift.Result { try body() }
        try PreparedStatement(database, "COMMIT").execute()
        return try result.get()
    }

    package static func table(of entity: CatalogEntity) -> String { "e\(entity.id)" }
    package static func name(of column: CatalogColumn) -> String { "c\(column.id)" }
}
