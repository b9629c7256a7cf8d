internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// Writes that were discarded while no engine was open.
///
/// Only a document's type can determine its state without them: the remote's state is kept as the type's JSON, from
/// which rows are made. So ``OutboxStatus`` marks them, and the engine discards them before it does anything else.
extension SyncStore {
    /// The maximum number of them that a commit lists.
    private static var namedWrites: Int { 20 }

    func discardAttributes(in db: Database) throws -> [String: String] {
        guard try SyncTables.exist(in: db) else { return [:] }
        let writes = try outbox.discarded(in: db).prefix(Self.namedWrites)
        guard !writes.isEmpty else { return [:] }
        return ["discarded": writes.map { "\($0.document.id)@\($0.position)" }.joined(separator: " ")]
    }

    /// Marks all writes that the remote hasn't accepted, as far as is known. One that has reached it is received as
    /// part of its state.
    ///
    /// - Returns: Their positions.
    func discardPending() async throws -> [Int64] {
        try await commit(reason: "discard the pending writes of \(path)") { tx in
            let db = tx.database
            guard var row = try SyncRemoteRow.all(of: manager, in: db).first(where: { $0.path == path }), row.isActive
            else { return [] }
            try outbox.add(written(since: row, tx), in: db)
            let positions = try outbox.discardPending(in: db)
            try store(&row, tx)
            return positions
        }
    }

    /// Resets their documents to the remote's state, with the remaining writes on top.
    func dropDiscarded(_ row: SyncRemoteRow, _ tx: WriteTransaction) throws {
        let db = tx.database
        let discarded = Dictionary(grouping: try outbox.discarded(in: db), by: \.document)
        guard !discarded.isEmpty else { return }
        let documents = documentReader(tx)
        for (document, writes) in discarded.sorted(by: { $0.value[0].position < $1.value[0].position }) {
            let id = document.id
            // While the first of them exists: the remote's state may be the document before it.
            let base = try base(of: id, since: row.since, in: db, documents)
            for write in writes { try outbox.remove(write.position, in: db) }
            if try outbox.firstPending(of: id, in: db) == nil {
                try bases.remove(id, in: db)
            } else {
                try bases.save(base, of: id, in: db)
            }
            // In a cleared table, the documents with unsent writes are restored later.
            if row.isCleared { continue }
            try write(try replayed(id, on: base, since: row.since, documents, in: db), on: base, of: id, tx)
        }
    }
}
