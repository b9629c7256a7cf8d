internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

extension SyncStore {
    /// Somebody else has saved since the state was read: it says nothing any more.
    struct Outdated: Error {}

    /// Saves what a core has decided, if nobody has saved since the state.
    ///
    /// - Returns: The state from now on; its `rows` are writes that were found on the way.
    func save(_ transaction: SyncTransaction, after state: State) async throws -> State {
        try await storage.engine.withWriter { writer, db in
            try writer.group(db) {
                // Read before the commit begins, because it says of itself what is in conflict with them.
                let before = WriteTransaction(writer: writer, database: db)
                let row = try activeRow(after: state, in: db)
                let written = try written(since: row, before)
                let gone = try gone(by: transaction, in: db)
                let attributes = try conflictAttributes(
                    of: transaction, gone: gone, written: written, since: row.since, before)
                let reason = transaction.reason(hasGone: !gone.isEmpty)
                var saved = try commit(with: writer, in: db, reason: reason, attributes: attributes) { tx in
                    try save(transaction, gone: gone, written: written, conflicts: attributes, on: row, tx)
                }
                if !transaction.conflicts.isEmpty {
                    try merge(transaction.conflicts, into: &saved, with: writer, in: db)
                }
                return saved
            }
        }
    }

    private func activeRow(after state: State, in db: Database) throws -> SyncRemoteRow {
        guard let row = try SyncRemoteRow.all(of: manager, in: db).first(where: { $0.path == path }), row.isActive,
            row.revision == state.row.revision
        else { throw Outdated() }
        return row
    }

    private func save(
        _ transaction: SyncTransaction, gone: [String], written: [PendingWrite], conflicts: [String: String],
        on row: SyncRemoteRow, _ tx: WriteTransaction
    ) throws -> State {
        let db = tx.database
        let start = tx.writer.nextPosition
        var row = row
        try outbox.add(written, in: db)
        try apply(transaction, gone: gone, to: row, tx)
        row.record = transaction.record
        if transaction.asksAgain { try askAgain(&row, in: db) }
        if let end = transaction.rewind { try forget(&row, behind: end, tx) }
        try recordConflicts(conflicts, after: start, tx)
        try store(&row, tx)
        return State(
            row: row, rows: written, unreadable: try unreadable(in: db), isOther: row.record != transaction.record)
    }

    private func apply(
        _ transaction: SyncTransaction, gone: [String], to row: SyncRemoteRow, _ tx: WriteTransaction
    ) throws {
        let db = tx.database
        let documents = documentReader(tx)
        try followNamed(by: transaction, in: db)
        let received = Dictionary(grouping: try changes(of: transaction, gone, in: db), by: \.document)
        var concerned: [DocumentID: ConcernedDocument] = [:]
        for (id, finished) in try finish(transaction, pulledUpTo: row.record.position, in: db) {
            if received[id] == nil, finished.isAllThere, try isLogBase(of: id.id, in: db) { continue }
            let base = try base(of: id.id, since: row.since, in: db, documents, first: finished.first)
            var document = ConcernedDocument(
                remote: base, expected: base, hadPending: true, needsReplay: finished.needsReplay)
            for write in finished.taken {
                let operation = try documents.operation(of: write, since: row.since)
                operation.apply(to: &document.expected)
                if finished.isUnpulled(write) { operation.apply(to: &document.remote) }
            }
            concerned[id] = document
        }
        for (id, changes) in received {
            let operations = changes.map { DocumentOperation($0.operation) }
            var document =
                try concerned[id]
                ?? concern(by: id.id, needsBase: operations.first?.replaces == false, row, documents, in: db)
            for operation in operations { operation.apply(to: &document.remote) }
            document.changePosition = changes.last(where: \.isForeign)?.position
            concerned[id] = document
        }
        try outbox.save(transaction.writes, in: db)
        for position in transaction.removed { try outbox.remove(position, in: db) }
        for id in gone where received[DocumentID(entity: table.entity, id: id)] == nil {
            if try write(nil, on: nil, of: id, tx) { try bases.remove(id, in: db) }
        }
        var refused: Set<DocumentID> = []
        for (id, document) in concerned {
            if document.hadPending, document.expected == document.remote, !document.needsReplay {
                try advanceBase(of: id.id, to: document.remote, in: db)
                continue
            }
            let shown = try put(document, of: id.id, since: row.since, documents, in: db)
            // A document that was taken out of the store stays out when a write of it is confirmed.
            let isReceived = received[id]?.contains { $0.ownOrigin == nil } ?? false
            if row.isCleared, !isReceived, try table.get(id.id, db) == nil { continue }
            if try !write(shown, on: document.remote, of: id.id, tx) { refused.insert(id) }
        }
        // What two documents have exchanged, such as a value that only one of them may have.
        for id in refused { try writeAgain(id.id, since: row.since, tx) }
    }

    /// The documents that none of the pages has named that name all; none before the last of these.
    private func gone(by transaction: SyncTransaction, in db: Database) throws -> [String] {
        guard transaction.part == .last else { return [] }
        let named = Set(transaction.changes.map(\.document))
        return try unnamed.all(in: db).filter { !named.contains(DocumentID(entity: table.entity, id: $0)) }
    }

    /// Follows which documents pages have named, from the first to the last of those that name all.
    private func followNamed(by transaction: SyncTransaction, in db: Database) throws {
        switch transaction.part {
        case .first:
            try unnamed.removeAll(in: db)
            try unnamed.add(try table.positions(db).map(\.id), in: db)
            try unnamed.add(try outbox.pendingDocuments(in: db), in: db)
            try unnamed.add(try bases.unreadable(in: db).map(\.documentId), in: db)
        case .last: return try unnamed.removeAll(in: db)
        case .some: break
        }
        try unnamed.remove(transaction.changes.map(\.document.id), in: db)
    }

    /// What a transaction has received and wasn't known. Documents with pending writes that are gone are deleted.
    private func changes(
        of transaction: SyncTransaction, _ gone: [String], in db: Database
    ) throws -> [RemoteChange] {
        let position = transaction.record.position
        var changes = transaction.changes
        if try !versions.isEmpty(in: db) {
            // One that was fetched by its id may be newer.
            changes = try changes.filter { try $0.position > versions.version(of: $0.document.id, in: db) }
            try versions.removeAll(through: position, in: db)
        }
        for change in changes where change.position > position {
            try versions.save(change.position, of: change.document.id, in: db)
        }
        for id in gone where try outbox.firstPending(of: id, in: db) != nil {
            let document = DocumentID(entity: table.entity, id: id)
            changes.append(RemoteChange(position: position, document: document, operation: .delete, ownOrigin: nil))
        }
        return changes
    }

    /// A document that a transaction of the engine concerns.
    private struct ConcernedDocument {
        /// What the remote has of it.
        var remote: DocumentFields?
        /// What the remote has of it as far as this store knew, with the writes on top that it has taken.
        var expected: DocumentFields?
        let hadPending: Bool
        /// Where somebody else has changed it last.
        var changePosition: Int64?
        /// Whether others than its first unsent writes are gone.
        var needsReplay = false
    }

    /// Pending writes of a document that a transaction takes out of the pending ones.
    private struct FinishedWrites {
        /// The first that was pending before.
        let first: PendingWrite?
        /// Those that the remote has taken, in order.
        var taken: [PendingWrite] = []
        /// Whether there are others than the document's first ones, or some that were given up.
        var needsReplay = false
        /// The origins that the transaction's changes tell.
        let origins: Set<Int64>
        /// The positions of writes that no page will have.
        let unpulled: Set<Int64>

        func isReceived(_ write: PendingWrite) -> Bool { origins.contains(write.remoteName) }

        /// Whether no page has what a write has changed. Remotes without positions apply everything at 0.
        func isUnpulled(_ write: PendingWrite) -> Bool {
            (write.remotePosition == 0 || unpulled.contains(write.position)) && !isReceived(write)
        }

        /// Whether the remote has what these writes have made of the document, without a page that has it.
        var isAllThere: Bool { !needsReplay && taken.allSatisfy(isUnpulled) }
    }

    /// Confirms or removes pending writes.
    ///
    /// - Parameter pulled: How far the remote was pulled before. What it has applied up to there is a part already of what it was known to
    ///   have, or somebody else has undone it.
    /// - Returns: Those, by document.
    private func finish(
        _ transaction: SyncTransaction, pulledUpTo pulled: Int64, in db: Database
    ) throws -> [DocumentID: FinishedWrites] {
        let origins = Set(transaction.changes.compactMap(\.ownOrigin))
        let confirmed = Dictionary(
            transaction.writes.filter(\.isConfirmed).map { ($0.position, $0) }, uniquingKeysWith: { $1 })
        var finished: [DocumentID: FinishedWrites] = [:]
        for position in Set(transaction.removed).union(confirmed.keys).sorted() {
            if let pending = try outbox.write(at: position, in: db), !pending.isConfirmed {
                let write = confirmed[position] ?? pending
                let id = write.document
                let first = try outbox.firstPending(of: id.id, in: db)
                var writes =
                    finished[id] ?? FinishedWrites(first: first, origins: origins, unpulled: transaction.unpulled)
                let isGivenUp = write.isParked && !writes.isReceived(write)
                let isKnown = !writes.isUnpulled(write) && write.remotePosition.map { $0 > 0 && $0 <= pulled } ?? false
                if !isGivenUp, !isKnown { writes.taken.append(write) }
                if isGivenUp || isKnown || first?.position != position { writes.needsReplay = true }
                finished[id] = writes
            }
            if let row = confirmed[position] {
                try outbox.save([row], in: db)
            } else {
                try outbox.remove(position, in: db)
            }
        }
        return finished
    }

    private func concern(
        by id: String, needsBase: Bool, _ row: SyncRemoteRow, _ documents: DocumentReader<T>, in db: Database
    ) throws -> ConcernedDocument {
        let hadPending = try outbox.firstPending(of: id, in: db) != nil
        guard hadPending || needsBase else { return ConcernedDocument(hadPending: false) }
        let base = try base(of: id, since: row.since, in: db, documents)
        return ConcernedDocument(remote: base, expected: base, hadPending: hadPending)
    }

    /// Whether what the remote has of a document is, without anything stored, the document before the first of its pending writes, as the
    /// log has it. Before a save there may be none there: it may have been taken out of the store.
    private func isLogBase(of id: String, in db: Database) throws -> Bool {
        guard try bases.base(of: id, in: db) == .unchanged else { return false }
        return try outbox.firstPending(of: id, in: db)?.kind != .save
    }

    /// What the remote has of a document has become what its first unsent writes made of it: with the rest of them on top, it is what it
    /// was.
    private func advanceBase(of id: String, to fields: DocumentFields?, in db: Database) throws {
        if try outbox.firstPending(of: id, in: db) == nil {
            try bases.remove(id, in: db)
        } else if try !isLogBase(of: id, in: db) {
            try bases.save(fields, of: id, in: db)
        }
    }

    /// The remote was put back to an earlier state: what was received is asked for again from its beginning.
    private func forget(_ row: inout SyncRemoteRow, behind end: Int64, _ tx: WriteTransaction) throws {
        try outbox.limitBases(to: end, in: tx.database)
        try bases.removeAll(in: tx.database)
        try askAgain(&row, in: tx.database)
    }

    /// Saves what the remote has of a document.
    ///
    /// - Returns: The document with its unsent writes.
    private func put(
        _ document: ConcernedDocument, of id: String, since: Int64, _ documents: DocumentReader<T>, in db: Database
    ) throws -> DocumentFields? {
        if try outbox.firstPending(of: id, in: db) == nil {
            try bases.remove(id, in: db)
            return document.remote
        }
        try bases.save(document.remote, of: id, changedAt: document.changePosition, in: db)
        if resolution.merges, document.expected != document.remote, try bases.ancestor(of: id, in: db) == .unchanged {
            try bases.saveAncestor(.known(document.expected), of: id, in: db)
        }
        return try replayed(id, on: document.remote, since: since, documents, in: db)
    }

    /// A document as it is with its unsent writes.
    func replayed(_ id: String, since: Int64, _ tx: WriteTransaction) throws -> DocumentFields? {
        let documents = documentReader(tx)
        let base = try base(of: id, since: since, in: tx.database, documents)
        return try replayed(id, on: base, since: since, documents, in: tx.database)
    }

    func replayed(
        _ id: String, on base: DocumentFields?, since: Int64, _ documents: DocumentReader<T>, in db: Database
    ) throws -> DocumentFields? {
        let pending = try outbox.pending(of: id, in: db)
        // What stands before a write of the whole document doesn't count.
        let first = pending.lastIndex { $0.kind != .patch } ?? 0
        var document = base
        for write in pending[first...] {
            try documents.operation(of: write, since: since).apply(to: &document)
        }
        return document
    }

    /// What the remote has of a document, as far as is known here.
    ///
    /// - Parameter first: The first of the document's pending writes where it isn't in the outbox as such any more.
    func base(
        of id: String, since: Int64, in db: Database, _ documents: DocumentReader<T>, first: PendingWrite? = nil
    ) throws -> DocumentFields? {
        // Of a document without unsent writes only where no row could be made of it.
        if case .known(let fields) = try bases.base(of: id, in: db) { return fields }
        guard let first = try first ?? outbox.firstPending(of: id, in: db) else {
            return try table.get(id, db).map { try DocumentFields(encoding: $0) }
        }
        return first.position <= since ? nil : try documents.document(id, before: first.position)
    }
}

// MARK: Rows

extension SyncStore {
    /// Makes the row of a document what it is with its unsent writes. Where that can't be, because its type or the schema doesn't take it,
    /// the row stays as it was, and what the remote has is kept beside it: one document holds up no other.
    ///
    /// - Parameter remote: What the remote has of it.
    /// - Returns: Whether it could be.
    @discardableResult
    func write(
        _ fields: DocumentFields?, on remote: DocumentFields?, of id: String, _ tx: WriteTransaction
    ) throws -> Bool {
        do {
            try write(fields, of: id, tx)
            return true
        } catch let error as StorageError where [.invalidValue, .conflict, .limitExceeded].contains(error.code) {
            if try outbox.firstPending(of: id, in: tx.database) == nil {
                try bases.save(remote, of: id, in: tx.database)
            }
            try bases.markUnreadable(id, because: error.message, in: tx.database)
            return false
        }
    }

    private func write(_ fields: DocumentFields?, of id: String, _ tx: WriteTransaction) throws {
        guard let fields else { return try table.delete(id, tx) }
        let document = try fields.document(T.self)
        guard document.id == id else {
            throw StorageError(
                .invalidValue, "The document \"\(id)\" says that its id is \"\(document.id)\".",
                remedy: "Let the remote give each document the id that it is stored under.")
        }
        try table.save(document, tx)
    }

    /// Tries again to make the rows of documents of which none could be made: the program may be another one.
    func readAgain(_ row: SyncRemoteRow, _ tx: WriteTransaction) throws {
        for document in try bases.unreadable(in: tx.database) {
            try writeAgain(document.documentId, since: row.since, tx)
        }
    }

    private func writeAgain(_ id: String, since: Int64, _ tx: WriteTransaction) throws {
        guard case .known(let remote) = try bases.base(of: id, in: tx.database) else { return }
        guard try write(try replayed(id, since: since, tx), on: remote, of: id, tx) else { return }
        if try outbox.firstPending(of: id, in: tx.database) == nil {
            try bases.remove(id, in: tx.database)
        } else {
            try bases.save(remote, of: id, in: tx.database)
        }
    }
}

extension SyncTransaction {
    /// The reason of commits of what was received.
    static let receive = "receive"

    /// As commits say it.
    ///
    /// - Parameter hasGone: Whether documents are gone that no change names.
    fileprivate func reason(hasGone: Bool) -> String {
        if rewind != nil { return "the remote was restored" }
        return changes.isEmpty && !hasGone ? "send" : Self.receive
    }
}
