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
}
