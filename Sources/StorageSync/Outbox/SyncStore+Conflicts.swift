internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

extension SyncStore {
    /// Bytes of the ids of each kind that a commit names.
    private static var namedBytes: Int { 16 << 10 }

    /// Says in the history which documents were changed on both sides, and which of their writes are parked for that.
    ///
    /// - Parameters:
    ///   - gone: Documents that the remote hasn't any more, and that no change names.
    ///   - written: Writes that the outbox doesn't have yet.
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
            // One that knew of the change, or that the remote took before it, is no part of it.
            let isConflict = try unsent(change.document)
                .contains { $0.base < position && position < $0.remotePosition ?? .max }
            guard isConflict else { continue }
            seen.insert(change.document)
            conflicts.append(change.document)
        }
        let documents = documentReader(tx)
        for document in gone.map({ DocumentID(entity: table.entity, id: $0) }) {
            let pending = try unsent(document)
            // One that was made here and that the remote never had isn't gone.
            guard pending.contains(where: { transaction.record.position < $0.remotePosition ?? .max }),
                try base(of: document.id, since: since, in: tx.database, documents, first: pending.first) != nil
            else { continue }
            conflicts.append(document)
        }
        let parked = transaction.writes.filter { if case .parked(.conflict) = $0.state { true } else { false } }
            .map { "\($0.document.id)@\($0.position)" }
        return ["conflicts": Self.list(conflicts.map(\.id)), "parked": Self.list(parked)].compactMapValues { $0 }
    }

    /// Names with spaces between them, and how many more there are that don't fit; nil for none.
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

    /// Lets the commit under way be there for what its attributes say, also where no row has changed: both sides have changed the
    /// same fields only, or a write was parked.
    func recordConflicts(_ attributes: [String: String], after start: Int64, _ tx: WriteTransaction) throws {
        guard !attributes.isEmpty, tx.writer.nextPosition == start else { return }
        try tx.writer.enter(
            StorageOperation("sync conflict", subject: table.entity, outcome: JSONText.of(attributes)))
    }

    /// A page in which those changes are marked that tell nothing of a document with unsent writes but what is known here: what the
    /// remote had of it, or what it has once it has taken the writes.
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
    /// Merges documents that were changed on both sides, in a commit of its own behind the one that has received them.
    ///
    /// The pending writes of such a document stay what they are. On top of them comes one more, which makes of the remote's document with
    /// those writes what the closure wants: it is an event of the log like any other write, and is pending from the same
    /// transaction on.
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
                    saved.isOther = true
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
        guard merged.id == id else { throw Unmerged(reason: "what came out has another id") }
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

    /// Parks the first of a document's writes that waits, and those of its origin.
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

/// What was changed on both sides isn't merged.
private struct Unmerged: Error, CustomStringConvertible {
    let reason: String?

    var description: String {
        "somebody else has changed the document meanwhile, and the changes weren't merged"
            + (reason.map { ": \($0)" } ?? "")
    }
}
