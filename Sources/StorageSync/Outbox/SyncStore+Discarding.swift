internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// Writes that were discarded while no engine was open.
///
/// What a document is without them only its type knows: what a remote has is kept as the type's JSON, and rows are made by it. So
/// ``OutboxStatus`` marks them, and the engine gives them up before it does anything else.
extension SyncStore {
    /// How many of them a commit names.
    private static var namedWrites: Int { 20 }

    func discardAttributes(in db: Database) throws -> [String: String] {
        guard try SyncTables.exist(in: db) else { return [:] }
        let writes = try outbox.discarded(in: db).prefix(Self.namedWrites)
        guard !writes.isEmpty else { return [:] }
        return ["discarded": writes.map { "\($0.document.id)@\($0.position)" }.joined(separator: " ")]
    }

    /// Marks all writes that the remote hasn't taken, as far as is known. One that has reached it is received as what it has.
    ///
    /// - Returns: Their positions.
    func discardPending() async throws -> [Int64] {
        try await commit(reason: "discard what \(path) hasn't taken") { tx in
            let db = tx.database
            guard var row = try SyncRemoteRow.all(of: manager, in: db).first(where: { $0.path == path }), row.isActive
            else { return [] }
            try outbox.add(written(since: row, tx), in: db)
            let positions = try outbox.discardPending(in: db)
            try store(&row, tx)
            return positions
        }
    }

    /// Makes their documents what the remote has, with the writes on top that are left.
    func giveUpDiscarded(_ row: SyncRemoteRow, _ tx: WriteTransaction) throws {
        let db = tx.database
        let discarded = Dictionary(grouping: try outbox.discarded(in: db), by: \.document.id)
        guard !discarded.isEmpty else { return }
        let documents = documentReader(tx)
        for (id, writes) in discarded.sorted(by: { $0.key < $1.key }) {
            // As long as the first of them is there: what the remote has may be the document before it.
            let base = try base(of: id, since: row.since, in: db, documents)
            for write in writes { try outbox.remove(write.position, in: db) }
            if try outbox.firstPending(of: id, in: db) == nil {
                try bases.remove(id, in: db)
            } else {
                try bases.save(base, of: id, in: db)
            }
            // Of a table that was cleared, the documents with unsent writes are put back after this.
            if row.isCleared { continue }
            try write(try replayed(id, on: base, since: row.since, documents, in: db), on: base, of: id, tx)
        }
    }
}
