internal import GRDB

/// The rows of `sync_bases` of one engine and path: what the remote has of documents that have unsent writes here, or of which no row can
/// be made.
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
        guard let row = try row(of: document, in: db) else { return .unchanged }
        return .known(try (row[0] as String?).map { try DocumentFields(json: $0) })
    }

    /// What the remote had before the changes that aren't merged with those that were made here; `unchanged` where all are.
    func ancestor(of document: String, in db: Database) throws -> Base {
        guard let json = try row(of: document, in: db)?[1] as String? else { return .unchanged }
        return .known(json == DocumentFields.null ? nil : try DocumentFields(json: json))
    }

    /// The position of the last change that somebody else has made of a document since it was changed here; 0 where there is none.
    func changePosition(of document: String, in db: Database) throws -> Int64 {
        try row(of: document, in: db)?[2] ?? 0
    }

    private func row(of document: String, in db: Database) throws -> Row? {
        let sql = "SELECT fields, ancestor, changed FROM sync_bases WHERE manager = ? AND path = ? AND document = ?"
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [manager, path, document])
    }

    /// Keeps the ancestor.
    ///
    /// - Parameter position: Where somebody else has changed the document; nil where nobody else has.
    func save(_ fields: DocumentFields?, of document: String, changedAt position: Int64? = nil, in db: Database) throws
    {
        let sql = """
            INSERT INTO sync_bases(manager, path, document, fields, changed) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT(manager, path, document)
            DO UPDATE SET fields = excluded.fields, changed = max(changed, excluded.changed), unreadable = NULL
            """
        try db.cachedStatement(sql: sql).execute(arguments: [manager, path, document, fields?.json, position ?? 0])
    }

    /// Says why there is no row of a document; to be called once its base is saved.
    func markUnreadable(_ document: String, because reason: String, in db: Database) throws {
        let sql = "UPDATE sync_bases SET unreadable = ? WHERE manager = ? AND path = ? AND document = ?"
        try db.cachedStatement(sql: sql).execute(arguments: [reason, manager, path, document])
    }

    func unreadableReason(of document: String, in db: Database) throws -> String? {
        let sql = "SELECT unreadable FROM sync_bases WHERE manager = ? AND path = ? AND document = ?"
        return try String.fetchOne(db.cachedStatement(sql: sql), arguments: [manager, path, document])
    }

    /// The documents of which no row can be made, by id.
    ///
    /// - Parameter limit: The most of them; all where it is negative.
    func unreadable(limit: Int = -1, in db: Database) throws -> [SyncStatus.UnreadableDocument] {
        let sql = """
            SELECT document, unreadable FROM sync_bases WHERE manager = ? AND path = ? AND unreadable IS NOT NULL
            ORDER BY document LIMIT ?
            """
        return try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [manager, path, limit]).map {
            SyncStatus.UnreadableDocument(documentId: $0[0], reason: $0[1])
        }
    }

    /// To be called once the base is saved.
    func saveAncestor(_ ancestor: Base, of document: String, in db: Database) throws {
        let json: String? = if case .known(let fields) = ancestor { fields?.json ?? DocumentFields.null } else { nil }
        let sql = "UPDATE sync_bases SET ancestor = ? WHERE manager = ? AND path = ? AND document = ?"
        try db.cachedStatement(sql: sql).execute(arguments: [json, manager, path, document])
    }

    func remove(_ document: String, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM sync_bases WHERE manager = ? AND path = ? AND document = ?")
            .execute(arguments: [manager, path, document])
    }

    func removeAll(in db: Database) throws {
        try db.execute(sql: "DELETE FROM sync_bases WHERE manager = ? AND path = ?", arguments: [manager, path])
    }
}
