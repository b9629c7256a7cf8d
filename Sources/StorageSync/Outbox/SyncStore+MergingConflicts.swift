internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

extension SyncStore {
    /// Merges documents that were changed on both sides, in a separate commit after the one that has received them.
    ///
    /// The pending writes of such a document aren't changed. Another write is added on top of them, which turns the
    /// remote's document with those writes into the closure's result: it is an event of the log like any other write,
    /// and becomes pending in the same transaction.
    func merge(
        _ documents: [DocumentID], into state: inout State, with writer: LogWriter, in db: Database
    ) throws {
        guard case .merge(let closure) = resolution else { return }
        let ids = documents.map(\.id)
        var saved = state
        try commit(with: writer, in: db, reason: "merge", attributes: ["merged": ids.joined(separator: " ")]) { tx in
            for id in ids {
                do {
                    try merge(id, with: closure, into: &saved, in: tx)
                } catch let error as Unmerged {
                    try park(id, .invalid(error.description), in: db)
                    saved.needsNewCore = true
                }
            }
            try store(&saved.row, tx)
        }
        state = saved
    }

    private func merge(
        _ id: String, with closure: (_ base: T?, _ mine: T, _ theirs: T) throws -> T?, into state: inout State,
        in tx: WriteTransaction
    ) throws {
        let db = tx.database
        let since = state.row.since
        guard case .known(let ancestor) = try bases.ancestor(of: id, in: db),
            case .known(let remote?) = try bases.base(of: id, in: db),
            let mine = try mine(id, on: ancestor, since: since, in: tx)
        else { return try bases.saveAncestor(.unchanged, of: id, in: db) }
        let merged: T?
        let size: Int
        do {
            merged = try closure(try ancestor?.document(), try mine.document(), try remote.document())
            size = try merged.map { try DocumentFields(encoding: $0).json.utf8.count } ?? 0
        } catch {
            throw Unmerged(reason: (error as? StorageError)?.message ?? "\(error)")
        }
        guard let merged else { throw Unmerged(reason: nil) }
        guard merged.id == id else { throw Unmerged(reason: "the merged document has another id") }
        try bases.saveAncestor(.unchanged, of: id, in: db)
        let position = tx.writer.nextPosition
        let existed = try table.get(id, db) != nil
        try table.save(merged, tx)
        guard tx.writer.nextPosition > position else { return }
        var write = PendingWrite(
            position: position, document: DocumentID(entity: table.entity, id: id), kind: existed ? .patch : .save,
            size: size, base: state.row.record.position)
        write.isConditional = true
        try outbox.save([write], in: db)
        state.rows.append(write)
    }

    /// The document with the changes made here; nil if they delete it.
    private func mine(
        _ id: String, on ancestor: DocumentFields?, since: Int64, in tx: WriteTransaction
    ) throws -> DocumentFields? {
        do {
            return try replayed(id, on: ancestor, since: since, documentReader(tx), in: tx.database)
        } catch let error as StorageError where error.code == .invalidValue {
            throw Unmerged(reason: error.message)
        }
    }

    /// Parks a document's first waiting write, and those of its origin.
    private func park(_ id: String, _ rejection: WriteRejection, in db: Database) throws {
        let pending = try outbox.pending(of: id, in: db)
        guard let first = pending.first(where: { $0.state == .waiting }) else { return }
        try outbox.save(
            pending.filter { $0.position == first.position || $0.origin != nil && $0.origin == first.origin }.map {
                write in
                var parked = write
                parked.state = .parked(rejection)
                return parked
            }, in: db)
    }
}

/// The changes of both sides couldn't be merged.
private struct Unmerged: Error, CustomStringConvertible {
    let reason: String?

    var description: String {
        "another client has changed the document meanwhile, and the changes weren't merged"
            + (reason.map { ": \($0)" } ?? "")
    }
}
