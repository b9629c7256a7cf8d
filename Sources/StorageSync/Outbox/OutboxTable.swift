internal import GRDB
internal import StorageCore

/// The rows of `sync_outbox` of one engine and path.
struct OutboxTable: Sendable {
    let manager: String
    let path: String
    let entity: String

    func all(in db: Database) throws -> [PendingWrite] { try select(in: db) }

    /// The unconfirmed writes of a document, in order.
    func pending(of document: String, in db: Database) throws -> [PendingWrite] {
        try select(in: db, where: "document = ? AND state <> 'confirmed'", [document], by: "sync_outbox_documents")
    }

    /// The ids of documents with unconfirmed writes.
    ///
    /// - Parameter end: The position of the last write that counts.
    func pendingDocuments(through end: Int64 = .max, in db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT DISTINCT document FROM sync_outbox
                WHERE manager = ? AND path = ? AND state <> 'confirmed' AND position <= ?
                """, arguments: [manager, path, end])
    }

    /// The first unconfirmed write of a document; nil if there is none.
    func firstPending(of document: String, in db: Database) throws -> PendingWrite? {
        let condition = "document = ? AND state <> 'confirmed'"
        return try select(in: db, where: condition, [document], by: "sync_outbox_documents", limit: 1).first
    }

    /// Writes that were discarded while no engine was open, in order.
    func discarded(in db: Database) throws -> [PendingWrite] { try select(in: db, where: "is_discarded") }

    /// Writes that are ``PendingWrite/createsAgain``, in order.
    func recreating(in db: Database) throws -> [PendingWrite] {
        try select(in: db, where: "kind = 'save' AND retries > 0 AND state = 'waiting'")
    }

    func write(at position: Int64, in db: Database) throws -> PendingWrite? {
        try select(in: db, where: "position = ?", [position]).first
    }

    /// The writes that are sent as one, in order.
    func writes(of origin: Int64, in db: Database) throws -> [PendingWrite] {
        try select(in: db, where: "origin = ?", [origin], by: "sync_outbox_origins")
    }

    /// - Parameter index: Without a name, SQLite uses the primary key, which has the right order, and reads every row.
    private func select(
        in db: Database, where condition: String = "1", _ values: StatementArguments = [], by index: String? = nil,
        limit: Int? = nil
    ) throws -> [PendingWrite] {
        let sql = """
            SELECT position, document, size, base, state, number, rejection, kind, origin, is_conditional, retries
            FROM sync_outbox \(index.map { "INDEXED BY \($0)" } ?? "")
            WHERE manager = ? AND path = ? AND \(condition) ORDER BY position \(limit.map { "LIMIT \($0)" } ?? "")
            """
        return try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [manager, path] + values).map(write)
    }

    private func write(_ row: Row) throws -> PendingWrite {
        guard let kind = PendingWrite.Kind(rawValue: row[7]) else { throw unknown("of the kind", row[7]) }
        var write = PendingWrite(
            position: row[0], document: DocumentID(entity: entity, id: row[1]), kind: kind, size: row[2], base: row[3])
        write.origin = row[8]
        write.isConditional = row[9]
        write.retries = UInt8(truncatingIfNeeded: row[10] as Int64)
        let number: Int64 = row[5] ?? 0
        write.state =
            switch row[4] as String {
            case "waiting": .waiting
            case "sending": .sending(number: number)
            case "accepted": .accepted(at: number)
            case "confirmed": .confirmed(at: number)
            case "parked": .parked(WriteRejection(text: row[6] ?? ""))
            case let state: throw unknown("in the state", state)
            }
        return write
    }

    private func unknown(_ what: String, _ name: String) -> StorageError {
        StorageError(
            .corrupt, "The outbox has a write \(what) \"\(name)\".",
            remedy: "Open the store with the version of StorageKit that wrote it.")
    }

    /// Adds writes that were found in the log. Known writes aren't changed.
    func add(_ writes: [PendingWrite], in db: Database) throws {
        try insert(writes, onConflict: "DO NOTHING", in: db)
    }

    /// Adds writes, or updates their state. Discarded ones stay discarded.
    func save(_ writes: [PendingWrite], in db: Database) throws {
        try insert(
            writes,
            onConflict: """
                DO UPDATE SET document = excluded.document, kind = excluded.kind, size = excluded.size,
                  base = excluded.base, state = excluded.state, number = excluded.number,
                  rejection = excluded.rejection, origin = excluded.origin, is_conditional = excluded.is_conditional,
                  retries = excluded.retries
                """, in: db)
    }

    private func insert(_ writes: [PendingWrite], onConflict action: String, in db: Database) throws {
        let insert = try db.cachedStatement(
            sql: """
                INSERT INTO sync_outbox(
                  manager, path, position, document, kind, size, base, state, number, rejection, origin, is_conditional,
                  retries)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                ON CONFLICT(manager, path, position) \(action)
                """)
        for write in writes {
            let (state, number, rejection) = write.state.columns
            try insert.execute(arguments: [
                manager, path, write.position, write.document.id, write.kind.rawValue, write.size, write.base, state,
                number, rejection, write.origin, write.isConditional, Int64(write.retries),
            ])
        }
    }

    func remove(_ position: Int64, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM sync_outbox WHERE manager = ? AND path = ? AND position = ?")
            .execute(arguments: [manager, path, position])
    }

    /// Marks a write to be discarded when the engine is next opened.
    func discard(_ position: Int64, in db: Database) throws {
        let sql = "UPDATE sync_outbox SET is_discarded = 1 WHERE manager = ? AND path = ? AND position = ?"
        try db.cachedStatement(sql: sql).execute(arguments: [manager, path, position])
    }

    /// Parks writes that were sent and aren't confirmed, and removes confirmed ones.
    ///
    /// - Returns: Whether any write was parked.
    func startOver(in db: Database) throws -> Bool {
        try db.execute(
            sql: """
                UPDATE sync_outbox SET state = 'parked', number = NULL, rejection = ?
                WHERE manager = ? AND path = ? AND state IN ('sending', 'accepted')
                """, arguments: [WriteRejection.unknown.text, manager, path])
        try db.execute(
            sql: "DELETE FROM sync_outbox WHERE manager = ? AND path = ? AND state = 'confirmed'",
            arguments: [manager, path])
        return db.changesCount > 0
    }

    /// Marks writes that the remote hasn't accepted, to be discarded by the engine.
    ///
    /// - Returns: Their positions.
    func discardPending(in db: Database) throws -> [Int64] {
        let condition = "manager = ? AND path = ? AND state IN ('waiting', 'sending', 'parked')"
        try db.execute(sql: "UPDATE sync_outbox SET is_discarded = 1 WHERE \(condition)", arguments: [manager, path])
        return try Int64.fetchAll(
            db, sql: "SELECT position FROM sync_outbox WHERE \(condition)", arguments: [manager, path])
    }

    /// Limits the bases of writes to this state of the remote.
    func limitBases(to position: Int64, in db: Database) throws {
        try db.execute(
            sql: "UPDATE sync_outbox SET base = min(base, ?) WHERE manager = ? AND path = ?",
            arguments: [position, manager, path])
    }

    /// Removes writes that are no longer part of the log. Writes that were sent with them as one are separated again.
    func removeAll(behind position: Int64, in db: Database) throws {
        try db.execute(
            sql: "UPDATE sync_outbox SET origin = NULL WHERE manager = ? AND path = ? AND origin > ?",
            arguments: [manager, path, position])
        try db.execute(
            sql: "DELETE FROM sync_outbox WHERE manager = ? AND path = ? AND position > ?",
            arguments: [manager, path, position])
    }
}

extension PendingWrite.State {
    fileprivate var columns: (state: String, number: Int64?, rejection: String?) {
        switch self {
        case .waiting: ("waiting", nil, nil)
        case .sending(let number): ("sending", number, nil)
        case .accepted(let position): ("accepted", position, nil)
        case .parked(let rejection): ("parked", nil, rejection.text)
        case .confirmed(let position): ("confirmed", position, nil)
        }
    }
}

extension WriteRejection {
    /// The stored form.
    fileprivate var text: String {
        switch self {
        case .deleted: "deleted"
        case .missing: "missing"
        case .unknown: "unknown"
        case .conflict(let position): "conflict \(position)"
        case .invalid(let reason): "invalid: \(reason)"
        }
    }

    fileprivate init(text: String) {
        self =
            switch text {
            case "deleted": .deleted
            case "missing": .missing
            case "unknown": .unknown
            default:
                if text.hasPrefix("conflict "), let position = Int64(text.dropFirst(9)) {
                    .conflict(at: position)
                } else {
                    .invalid(text.hasPrefix("invalid: ") ? String(text.dropFirst(9)) : text)
                }
            }
    }
}
