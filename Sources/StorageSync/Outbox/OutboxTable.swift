internal import GRDB
internal import StorageCore

/// The rows of `sync_outbox` of one engine and path.
struct OutboxTable: Sendable {
    let manager: String
    let path: String
    let entity: String

    func all(in db: Database) throws -> [PendingWrite] { try select(db, "", []) }

    /// The writes of a document that aren't confirmed, in order.
    func pending(of document: String, in db: Database) throws -> [PendingWrite] {
        try select(db, "AND document = ? AND state <> 'confirmed'", [document])
    }

    /// Ids of documents with writes that aren't confirmed.
    func pendingDocuments(in db: Database) throws -> [String] {
        try String.fetchAll(
            db,
            sql: """
                SELECT DISTINCT document FROM sync_outbox WHERE manager = ? AND path = ? AND state <> 'confirmed'
                """, arguments: [manager, path])
    }

    func write(at position: Int64, in db: Database) throws -> PendingWrite? {
        try select(db, "AND position = ?", [position]).first
    }

    private func select(_ db: Database, _ condition: String, _ values: StatementArguments) throws -> [PendingWrite] {
        let sql = """
            SELECT position, document, size, base, state, number, rejection FROM sync_outbox
            WHERE manager = ? AND path = ? \(condition) ORDER BY position
            """
        return try Row.fetchAll(db.cachedStatement(sql: sql), arguments: [manager, path] + values).map(write)
    }

    private func write(_ row: Row) throws -> PendingWrite {
        var write = PendingWrite(
            position: row[0], document: DocumentID(entity: entity, id: row[1]), size: row[2], base: row[3])
        let number: Int64 = row[5] ?? 0
        write.state =
            switch row[4] as String {
            case "waiting": .waiting
            case "sending": .sending(number: number)
            case "accepted": .accepted(at: number)
            case "confirmed": .confirmed(at: number)
            case "parked": .parked(WriteRejection(text: row[6] ?? ""))
            case let state:
                throw StorageError(
                    .corrupt, "The outbox has a write in the state \"\(state)\".",
                    remedy: "Open the store with the version of StorageKit that wrote it.")
            }
        return write
    }

    /// Adds writes, or gives them another state.
    func save(_ writes: [PendingWrite], in db: Database) throws {
        let insert = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO sync_outbox VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
        for write in writes {
            let (state, number, rejection) = write.state.columns
            try insert.execute(arguments: [
                manager, path, write.position, write.document.id, write.size, write.base, state, number, rejection,
            ])
        }
    }

    func remove(_ position: Int64, in db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM sync_outbox WHERE manager = ? AND path = ? AND position = ?")
            .execute(arguments: [manager, path, position])
    }

    /// No write was made on a later state of the remote than this one.
    func limitBases(to position: Int64, in db: Database) throws {
        try db.execute(
            sql: "UPDATE sync_outbox SET base = min(base, ?) WHERE manager = ? AND path = ?",
            arguments: [position, manager, path])
    }

    /// Removes writes that aren't part of the log any more.
    func removeAll(behind position: Int64, in db: Database) throws {
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
    /// As it is stored.
    fileprivate var text: String {
        switch self {
        case .deleted: "deleted"
        case .missing: "missing"
        case .unknown: "unknown"
        case .invalid(let reason): "invalid: \(reason)"
        }
    }

    fileprivate init(text: String) {
        self =
            switch text {
            case "deleted": .deleted
            case "missing": .missing
            case "unknown": .unknown
            default: .invalid(text.hasPrefix("invalid: ") ? String(text.dropFirst(9)) : text)
            }
    }
}
