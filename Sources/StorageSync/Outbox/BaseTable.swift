internal import GRDB

/// The rows of `sync_bases` of one engine and path: what the remote has of documents that have unsent writes here.
struct BaseTable: Sendable {
    let manager: String
    let path: String

    enum Base: Equatable {
        /// The remote hasn't changed the document since it was changed here.
        case unchanged
        /// What it has; nil where it has none.
        case known(DocumentFields?)
    }

    func base(of document: String, in db: Database) throws -> Base {
        let sql = "SELECT fields FROM sync_bases WHERE manager = ? AND path = ? AND document = ?"
        guard
            let row = try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [manager, path, document])
        else { return .unchanged }
        return .known(try (row[0] as String?).map { try DocumentFields(json: $0) })
    }

    func save(_ fields: DocumentFields?, of document: String, in db: Database) throws {
        try db.cachedStatement(sql: "INSERT OR REPLACE INTO sync_bases VALUES (?, ?, ?, ?)")
            .execute(arguments: [manager, path, document, fields?.json])
    }

    func remove(_ document: String, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM sync_bases WHERE manager = ? AND path = ? AND document = ?")
            .execute(arguments: [manager, path, document])
    }

    func removeAll(in db: Database) throws {
        try db.execute(sql: "DELETE FROM sync_bases WHERE manager = ? AND path = ?", arguments: [manager, path])
    }
}
