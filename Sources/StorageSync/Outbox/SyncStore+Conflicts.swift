internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

extension SyncStore {
    /// The maximum size of the ids of each kind that a commit lists.
    private static var namedBytes: Int { 16 << 10 }

    /// The attributes of a commit that name the documents that both sides have changed, and which of their writes are
    /// parked.
    ///
    /// - Parameters:
    ///   - gone: Documents that the remote no longer has, and that no change mentions.
    ///   - written: Writes that the outbox doesn't contain yet.
    func conflictAttributes(
        of transaction: SyncTransaction, gone: [String], written: [PendingWrite], since: Int64, _ tx: WriteTransaction
    ) throws -> [String: String] {
        let written = Dictionary(grouping: written, by: \.document)
        func unsent(_ document: DocumentID) throws -> [PendingWrite] {
            try outbox.pending(of: document.id, in: tx.database) + written[document, default: []]
        }
        var conflicts: [DocumentID] = []
        var seen: Set<DocumentID> = []
        for change in transaction.changes where !seen.contains(change.document) {
            guard let position = change.foreignPosition else { continue }
            // A write that knew of the change, or that the remote accepted before it, doesn't conflict.
            let isConflict = try unsent(change.document)
                .contains { $0.base < position && position < $0.remotePosition ?? .max }
            guard isConflict else { continue }
            seen.insert(change.document)
            conflicts.append(change.document)
        }
        let documents = documentReader(tx)
        for document in gone.map({ DocumentID(entity: table.entity, id: $0) }) {
            let pending = try unsent(document)
            // A document that was created here and never reached the remote isn't gone.
            guard pending.contains(where: { transaction.record.position < $0.remotePosition ?? .max }),
                try base(of: document.id, since: since, in: tx.database, documents, first: pending.first) != nil
            else { continue }
            conflicts.append(document)
        }
        let parked = transaction.writes.filter { if case .parked(.conflict) = $0.state { true } else { false } }
            .map { "\($0.document.id)@\($0.position)" }
        return ["conflicts": Self.list(conflicts.map(\.id)), "parked": Self.list(parked)].compactMapValues { $0 }
    }

    /// The names separated by spaces, and the number of those that don't fit; nil for none.
    static func list(_ names: [String]) -> String? {
        var list = ""
        var left = 0
        for name in names {
            if list.utf8.count + name.utf8.count < namedBytes {
                list += list.isEmpty ? name : " \(name)"
            } else {
                left += 1
            }
        }
        if left > 0 { list += list.isEmpty ? "\(left) more" : " and \(left) more" }
        return list.isEmpty ? nil : list
    }

    /// Makes the current commit exist for its attributes even if no row has changed, because both sides have changed
    /// only the same fields or a write was parked.
    func recordConflicts(_ attributes: [String: String], after start: Int64, _ tx: WriteTransaction) throws {
        guard !attributes.isEmpty, tx.writer.nextPosition == start else { return }
        try tx.writer.enter(
            StorageOperation("sync conflict", subject: table.entity, outcome: JSONText.of(attributes)))
    }

    /// A page in which changes with nothing new are marked as echoes: they only repeat, for a document with unsent writes,
    /// what the remote had, or what it has once it has accepted the writes.
    func markingEchoes(in page: SyncPage, since: Int64) async throws -> SyncPage {
        let changes = try await storage.engine.read { db in
            let documents = try documentReader(db)
            return try page.changes.map { change in
                let id = change.document.id
                guard change.isForeign, try outbox.firstPending(of: id, in: db) != nil else { return change }
                let base = try base(of: id, since: since, in: db, documents)
                let shown = try table.get(id, db).map { try DocumentFields(encoding: $0) }
                var predicted = base
                DocumentOperation(change.operation).apply(to: &predicted)
                return predicted == base || predicted == shown ? change.asEcho : change
            }
        }
        return SyncPage(start: page.start, end: page.end, changes: changes, part: page.part)
    }
}

extension RemoteChange {
    fileprivate var asEcho: RemoteChange {
        RemoteChange(position: position, document: document, operation: operation, ownOrigin: nil, isEcho: true)
    }
}

// MARK: Merging

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
            let mine = try replayed(id, on: ancestor, since: since, documentReader(tx), in: db)
        else { return try bases.saveAncestor(.unchanged, of: id, in: db) }
        let merged: T?
        do {
            merged = try closure(try ancestor?.document(), try mine.document(), try remote.document())
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
            size: try DocumentFields(encoding: merged).json.utf8.count, base: state.row.record.position)
        write.isConditional = true
        try outbox.save([write], in: db)
        state.rows.append(write)
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
