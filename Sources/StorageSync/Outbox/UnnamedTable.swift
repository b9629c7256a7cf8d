internal import GRDB

/// The rows of `sync_unnamed` of one engine and path: documents in the table that the remote may no longer have,
/// because no page has named them: during a full pull, all others, and later those that are newer than what was pulled.
struct UnnamedTable: Sendable {
    let manager: String
    let path: String

    func add(_ documents: some Sequence<String>, in db: Database) throws {
        let insert = try db.cachedStatement(sql: "INSERT OR IGNORE INTO sync_unnamed VALUES (?, ?, ?)")
        for document in documents { try insert.execute(arguments: [manager, path, document]) }
    }

    func remove(_ documents: some Sequence<String>, in db: Database) throws {
        guard try !isEmpty(in: db) else { return }
        let sql = "DELETE FROM sync_unnamed WHERE manager = ? AND path = ? AND document = ?"
        let delete = try db.cachedStatement(sql: sql)
        for document in documents { try delete.execute(arguments: [manager, path, document]) }
    }

    func removeAll(in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM sync_unnamed WHERE manager = ? AND path = ?")
            .execute(arguments: [manager, path])
    }

    func all(in db: Database) throws -> [String] {
        let sql = "SELECT document FROM sync_unnamed WHERE manager = ? AND path = ? ORDER BY document"
        return try String.fetchAll(db.cachedStatement(sql: sql), arguments: [manager, path])
    }

    private func isEmpty(in db: Database) throws -> Bool {
        let sql = "SELECT NOT EXISTS (SELECT 1 FROM sync_unnamed WHERE manager = ? AND path = ?)"
        return try Bool.fetchOne(db.cachedStatement(sql: sql), arguments: [manager, path]) ?? true
    }
}
