internal import GRDB

/// The rows of `sync_versions` of one engine and path: documents that were fetched by id and are newer than what was
/// pulled.
struct VersionTable: Sendable {
    let manager: String
    let path: String

    /// The remote's position at which a document was fetched; 0 if it wasn't.
    func version(of document: String, in db: Database) throws -> Int64 {
        let sql = "SELECT version FROM sync_versions WHERE manager = ? AND path = ? AND document = ?"
        return try Int64.fetchOne(db.cachedStatement(sql: sql), arguments: [manager, path, document]) ?? 0
    }

    func save(_ version: Int64, of document: String, in db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO sync_versions VALUES (?, ?, ?, ?)")
            .execute(arguments: [manager, path, document, version])
    }

    func isEmpty(in db: Database) throws -> Bool {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM sync_versions WHERE manager = ? AND path = ?)"
        return try Bool.fetchOne(db.cachedStatement(sql: sql), arguments: [manager, path]) ?? true
    }

    /// Removes the rows of documents that were pulled since.
    func removeAll(through position: Int64 = .max, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM sync_versions WHERE manager = ? AND path = ? AND version <= ?")
            .execute(arguments: [manager, path, position])
    }
}
