internal import GRDB

/// The rows of `sync_bases` of one engine and path: the remote's state of documents that have unsent writes here, or
/// that can't be stored as rows.
struct BaseTable: Sendable {
    let manager: String
    let path: String

    enum Base: Equatable {
        /// The remote hasn't changed the document since it was changed here.
        case unchanged
        /// The remote's document; nil if it has none.
        case known(DocumentFields?)
    }

    func base(of document: String, in db: Database) throws -> Base {
        guard let row = try row(of: document, in: db) else { return .unchanged }
        return .known(try (row[0] as String?).map { try DocumentFields(json: $0) })
    }

    /// The remote's state before the changes that aren't merged yet with those made here; `unchanged` if all are
    /// merged.
    func ancestor(of document: String, in db: Database) throws -> Base {
        guard let json = try row(of: document, in: db)?[1] as String? else { return .unchanged }
        return .known(json == DocumentFields.null ? nil : try DocumentFields(json: json))
    }

    /// The position of the last change of a document by another writer since it was changed here; 0 if there is none.
    func changePosition(of document: String, in db: Database) throws -> Int64 {
        try row(of: document, in: db)?[2] ?? 0
    }

    private func row(of document: String, in db: Database) throws -> Row? {
        let sql = "SELECT fields, ancestor, changed FROM sync_bases WHERE manager = ? AND path = ? AND document = ?"
        return try Row.fetchOne(db.cachedStatement(sql: sql), arguments: [manager, path, document])
    }

    /// Stores the remote's document, and keeps the ancestor.
    ///
    /// - Parameter position: The position at which another writer has changed the document; nil if none has.
    func save(_ fields: DocumentFields?, of document: String, changedAt position: Int64? = nil, in db: Database) throws
    {
        let sql = """
            INSERT INTO sync_bases(manager, path, document, fields, changed) VALUES (?, ?, ?, ?, ?)
            ON CONFLICT(manager, path, document)
            DO UPDATE SET fields = excluded.fields, changed = max(changed, excluded.changed), unreadable = NULL
            """
        try db.cachedStatement(sql: sql).execute(arguments: [manager, path, document, fields?.json, position ?? 0])
    }

    /// Stores why a document has no row. Call it once its base is saved.
    func markUnreadable(_ document: String, because reason: String, in db: Database) throws {
        let sql = "UPDATE sync_bases SET unreadable = ? WHERE manager = ? AND path = ? AND document = ?"
        try db.cachedStatement(sql: sql).execute(arguments: [reason, manager, path, document])
    }

    func unreadableReason(of document: String, in db: Database) throws -> String? {
        let sql = "SELECT unreadable FROM sync_bases WHERE manager = ? AND path = ? AND document = ?"
        return try String.fetchOne(db.cachedStatement(sql: sql), arguments: [manager, path, document])
    }

    /// The documents that can't be stored as rows, by id.
    ///
    /// - Parameter limit: The maximum number; negative for all.
    func unreadable(limit: Int = -1, in db: Database) throws -> [SyncStatus.UnreadableDocument] {
        let sql = """
            SELECT document, unreadable FROM sync_bases WHERE manager = ? AND path = ? AND unreadable IS NOT NULL
            ORDER BY document LIMIT ?
            """
        return try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [manager, path, limit]).map {
            SyncStatus.UnreadableDocument(documentId: $0[0], reason: $0[1])
        }
    }

    /// Call it once the base is saved.
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
