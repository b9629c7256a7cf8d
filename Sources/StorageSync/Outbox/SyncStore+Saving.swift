internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

extension SyncStore {
    /// Another driver has saved since the state was read, so it is outdated.
    struct Outdated: Error {}

    /// Saves a core's decisions, unless another driver has saved since the state was read.
    ///
    /// - Returns: The new state; its `rows` are writes that were found in the log meanwhile.
    func save(_ transaction: SyncTransaction, after state: State) async throws -> State {
        try await storage.engine.withWriter { writer, db in
            try writer.group(db) {
                // Read before the commit begins, because its attributes name conflicts with them.
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
        let lines = row.record.lines
        row.record = transaction.record
        // Another line of history may only have an earlier version of a document that was fetched by id.
        let isOtherLine = !lines.isEmpty && lines != row.record.lines
        if try transaction.restartsPull || isOtherLine && !versions.isEmpty(in: db) { try restartPull(&row, in: db) }
        if let end = transaction.rewind { try forget(&row, behind: end, tx) }
        try recordConflicts(conflicts, after: start, tx)
        try store(&row, tx)
        return State(
            row: row, rows: written, unreadable: try unreadable(in: db), needsNewCore: row.record != transaction.record)
    }

    private func apply(
        _ transaction: SyncTransaction, gone: [String], to row: SyncRemoteRow, _ tx: WriteTransaction
    ) throws {
        let db = tx.database
        let documents = documentReader(tx)
        try followNamed(by: transaction, row, in: db)
        let received = Dictionary(grouping: try changes(of: transaction, gone, in: db), by: \.document)
        var concerned: [DocumentID: ConcernedDocument] = [:]
        for (id, finished) in try finish(transaction, pulledUpTo: row.record.position, in: db) {
            if hasRemotePositions, finished.createsUnpulled, try !hasKnownBase(of: id.id, in: db) {
                try awaitPage(naming: [id.id], behind: transaction.record.position, row, in: db)
            }
            if received[id] == nil, finished.isAllThere, try isLogBase(of: id.id, in: db) { continue }
            let base = try base(of: id.id, since: row.since, in: db, documents, first: finished.first)
            var document = ConcernedDocument(
                remote: base, expected: base, hadPending: true, needsReplay: finished.needsReplay,
                hasTaken: !finished.taken.isEmpty)
            for (write, operation) in try documents.operations(of: finished.taken, since: row.since) {
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
            document.isChangedByOthers = changes.contains { $0.foreignPosition != nil }
            concerned[id] = document
        }
        try outbox.save(transaction.writes, in: db)
        for position in transaction.removed { try outbox.remove(position, in: db) }
        for id in gone where received[DocumentID(entity: table.entity, id: id)] == nil {
            if try write(nil, on: nil, of: id, tx) { try bases.remove(id, in: db) }
        }
        var refused: Set<DocumentID> = []
        for (id, document) in concerned {
            // Fails where the row is written, if its unsent writes can't be written as JSON.
            let shown: Result<DocumentFields?, any Error>
            if document.hadPending, document.expected == document.remote, !document.needsReplay {
                // Then the row doesn't have what the remote had before.
                let wasRefused = try bases.unreadableReason(of: id.id, in: db) != nil
                try advanceBase(of: id.id, to: document, in: db)
                // A table that was cleared while the remote had all writes lacks the rows of those that it has lost since.
                if try !wasRefused && table.contains(id.id, db) { continue }
                shown = Result { try replayed(id.id, on: document.remote, since: row.since, documents, in: db) }
            } else {
                shown = Result { try put(document, of: id.id, since: row.since, documents, in: db) }
            }
            // A removed document stays removed when one of its writes is confirmed.
            let isReceived = received[id]?.contains { $0.ownOrigin == nil } ?? false
            if row.isCleared, !isReceived, try !table.contains(id.id, db) { continue }
            if try !write(try shown.get(), on: document.remote, of: id.id, tx) { refused.insert(id) }
        }
        // Values that two documents have exchanged, such as a unique one.
        for id in refused { try rewriteRow(id.id, since: row.since, tx) }
        for (id, reason) in transaction.unreadable {
            try markUnreadable(id.id, because: reason, since: row.since, documents, in: db)
        }
        try showRecreated(by: transaction.writes, row, tx)
    }

    /// Stores why the remote's document can't be received. Its row stays as it is, and with it what the remote is known to
    /// have.
    private func markUnreadable(
        _ id: String, because reason: String, since: Int64, _ documents: DocumentReader<T>, in db: Database
    ) throws {
        if try bases.base(of: id, in: db) == .unchanged {
            do {
                try bases.save(try base(of: id, since: since, in: db, documents), of: id, in: db)
            } catch let error as StorageError where error.code == .invalidValue {
                // The row can't be written as JSON either: nothing is known that could be stored.
                return
            }
        }
        try bases.markUnreadable(id, because: reason, in: db)
    }

    /// Shows the documents that retried writes create again: their rows were removed with the remote's documents.
    func showRecreated(by writes: [PendingWrite], _ row: SyncRemoteRow, _ tx: WriteTransaction) throws {
        // In a cleared table, the documents with unsent writes are restored later.
        if row.isCleared { return }
        for retried in writes where retried.createsAgain {
            let id = retried.document.id
            try write(try replayed(id, since: row.since, tx), on: nil, of: id, tx)
        }
    }

    /// The documents that no page listed in a full pull; empty unless this is its last page.
    private func gone(by transaction: SyncTransaction, in db: Database) throws -> [String] {
        let documents =
            switch transaction.part {
            case .some, .first: [String]()
            case .last: try unnamed.all(in: db)
            case .only: try known(in: db)
            }
        var named = Set(transaction.changes.map(\.document))
        return documents.filter { named.insert(DocumentID(entity: table.entity, id: $0)).inserted }
    }

    /// The documents that a full pull may not list. Some may occur twice.
    private func known(in db: Database) throws -> [String] {
        try table.positions(db).map(\.id) + outbox.pendingDocuments(in: db) + bases.unreadable(in: db).map(\.documentId)
    }

    /// Tracks which documents a full pull has listed so far, and which documents no page has reached yet.
    private func followNamed(by transaction: SyncTransaction, _ row: SyncRemoteRow, in db: Database) throws {
        let position = transaction.record.position
        switch transaction.part {
        case .first:
            try unnamed.removeAll(in: db)
            try unnamed.add(try known(in: db), in: db)
        case .last, .only: return try unnamed.removeAll(in: db)
        case .some: break
        }
        var named = transaction.changes.filter { $0.position <= position }
        if try !versions.isEmpty(in: db) {
            // A page that ends before the version that was fetched by id says nothing about that.
            named = try named.filter { try versions.version(of: $0.document.id, in: db) <= position }
        }
        try unnamed.remove(named.map(\.document.id), in: db)
        let fetched = transaction.changes.filter { $0.position > position }
        try awaitPage(naming: fetched.map(\.document.id), behind: position, row, in: db)
    }

    /// Notes documents that the remote got after what was pulled: if it deletes them before the next page, no page
    /// names them.
    ///
    /// - Parameter position: The position up to which the remote was pulled. Without one, the next pull is a full one.
    private func awaitPage(
        naming documents: [String], behind position: Int64, _ row: SyncRemoteRow, in db: Database
    ) throws {
        guard hasRemotePositions, position > 0, !documents.isEmpty else { return }
        // For an engine of one document, pages name no other.
        let followed = documents.filter { id in row.document.map { ExactText($0) == ExactText(id) } ?? true }
        try unnamed.add(followed, in: db)
    }

    /// Whether the remote is known to have a document, apart from what the log says.
    private func hasKnownBase(of id: String, in db: Database) throws -> Bool {
        if case .known(.some) = try bases.base(of: id, in: db) { true } else { false }
    }

    /// The changes that are new in a transaction. Documents with pending writes that are gone are deleted.
    private func changes(
        of transaction: SyncTransaction, _ gone: [String], in db: Database
    ) throws -> [RemoteChange] {
        let position = transaction.record.position
        var changes = transaction.changes
        if try !versions.isEmpty(in: db) {
            // A version that was fetched by id may be newer.
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

    /// A document that a transaction of the engine affects.
    private struct ConcernedDocument {
        /// The remote's state.
        var remote: DocumentFields?
        /// The remote's state as far as this store knew, with the writes on top that it has accepted.
        var expected: DocumentFields?
        let hadPending: Bool
        /// The position at which another writer last changed it.
        var changePosition: Int64?
        /// Whether another writer has changed it, before this store's own writes or after them.
        var isChangedByOthers = false
        /// Whether writes other than its first unsent ones were removed.
        var needsReplay = false
        /// Whether the remote has accepted writes of this store.
        var hasTaken = false
    }

    /// Pending writes of a document that a transaction finishes.
    private struct FinishedWrites {
        /// The first pending write before.
        let first: PendingWrite?
        /// The writes that the remote has accepted, in order.
        var taken: [PendingWrite] = []
        /// Whether they include others than the document's first ones, or discarded ones.
        var needsReplay = false
        /// The origins in the transaction's changes.
        let origins: Set<Int64>
        /// The positions of writes that no page will contain.
        let unpulled: Set<Int64>

        func isReceived(_ write: PendingWrite) -> Bool { origins.contains(write.remoteName) }

        /// Whether no page contains a write's change. Remotes without positions apply everything at 0.
        func isUnpulled(_ write: PendingWrite) -> Bool {
            (write.remotePosition == 0 || unpulled.contains(write.position)) && !isReceived(write)
        }

        /// Whether they have created the document at the remote, and no page contains that.
        var createsUnpulled: Bool { first?.kind == .save && taken.contains(where: isUnpulled) }

        /// Whether the remote's state includes these writes, without a page that contains them.
        var isAllThere: Bool { !needsReplay && taken.allSatisfy(isUnpulled) }
    }

    /// Confirms or removes pending writes.
    ///
    /// - Parameter pulled: The position up to which the remote was pulled before. Everything it has applied up to there is already part of its known
    ///   state, or was undone by another writer.
    /// - Returns: The finished writes, by document.
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

    /// Whether, with nothing stored, the remote's document is the one before the first pending write, according to the
    /// log. Before a save, the log may have none: the document may have been removed from the store.
    private func isLogBase(of id: String, in db: Database) throws -> Bool {
        guard try bases.base(of: id, in: db) == .unchanged else { return false }
        return try outbox.firstPending(of: id, in: db)?.kind != .save
    }

    /// The remote's document now includes its first unsent writes: with the remaining ones on top, it is unchanged.
    private func advanceBase(of id: String, to document: ConcernedDocument, in db: Database) throws {
        if try outbox.firstPending(of: id, in: db) == nil {
            try bases.remove(id, in: db)
        } else if try !isLogBase(of: id, in: db) {
            try bases.save(document.remote, of: id, in: db)
            // A write that was accepted includes the earlier changes of both sides.
            if resolution.merges, document.hasTaken { try bases.saveAncestor(.unchanged, of: id, in: db) }
        }
    }

    /// The remote was restored to an earlier state: everything is requested again from the beginning.
    private func forget(_ row: inout SyncRemoteRow, behind end: Int64, _ tx: WriteTransaction) throws {
        try outbox.limitBases(to: end, in: tx.database)
        try bases.removeAll(in: tx.database)
        try restartPull(&row, in: tx.database)
    }

    /// Saves the remote's state of a document.
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
        // The remote may also show more than it was sent, such as a column that only it has.
        if resolution.merges, document.isChangedByOthers, document.expected != document.remote,
            try bases.ancestor(of: id, in: db) == .unchanged
        {
            try bases.saveAncestor(.known(document.expected), of: id, in: db)
        }
        return try replayed(id, on: document.remote, since: since, documents, in: db)
    }

    /// A document with its unsent writes applied.
    ///
    /// - Throws: `invalid-value` if the result of the last one can't be written as JSON.
    func replayed(_ id: String, since: Int64, _ tx: WriteTransaction) throws -> DocumentFields? {
        let documents = documentReader(tx)
        let base = try base(of: id, since: since, in: tx.database, documents)
        return try replayed(id, on: base, since: since, documents, in: tx.database)
    }

    func replayed(
        _ id: String, on base: DocumentFields?, since: Int64, _ documents: DocumentReader<T>, in db: Database
    ) throws -> DocumentFields? {
        let pending = try outbox.pending(of: id, in: db)
        // Writes before one of the whole document are irrelevant.
        let first = pending.lastIndex { $0.kind != .patch } ?? 0
        var document = base
        for part in try documents.operations(of: pending[first...], since: since) {
            part.operation.apply(to: &document)
        }
        return document
    }

    /// The known state of a document at the remote.
    ///
    /// - Parameter first: The first of the document's pending writes, if it is no longer pending in the outbox.
    func base(
        of id: String, since: Int64, in db: Database, _ documents: DocumentReader<T>, first: PendingWrite? = nil
    ) throws -> DocumentFields? {
        // For a document without unsent writes, only stored if it has no row.
        if case .known(let fields) = try bases.base(of: id, in: db) { return fields }
        guard let first = try first ?? outbox.firstPending(of: id, in: db) else {
            return try table.get(id, db).map { try DocumentFields(encoding: $0) }
        }
        return first.position <= since ? nil : try documents.document(id, before: first.position, since: since)
    }
}

// MARK: Rows

extension SyncStore {
    /// Sets a document's row to its state with unsent writes. If its type or the schema rejects it, or it can't be
    /// written as JSON, the row isn't changed, and the remote's state is stored separately: one document doesn't block
    /// others. If there is no row, because the table was cleared, the remote's state becomes one.
    ///
    /// - Parameter remote: The remote's state.
    /// - Returns: Whether the row could be written.
    @discardableResult
    func write(
        _ fields: @autoclosure () throws -> DocumentFields?, on remote: DocumentFields?, of id: String,
        _ tx: WriteTransaction
    ) throws -> Bool {
        guard let reason = try refusal({ try write(fields(), of: id, tx) }) else { return true }
        let db = tx.database
        let isUnsent = try outbox.firstPending(of: id, in: db) != nil
        if try !isUnsent || remote != nil && bases.base(of: id, in: db) == .unchanged {
            try bases.save(remote, of: id, in: db)
        }
        try bases.markUnreadable(id, because: reason, in: db)
        if let remote, isUnsent, try !table.contains(id, db) { _ = try refusal { try write(remote, of: id, tx) } }
        return false
    }

    /// Why a row can't be written; nil if it was.
    private func refusal(_ write: () throws -> Void) throws -> String? {
        do {
            try write()
            return nil
        } catch let error as StorageError where [.invalidValue, .conflict, .limitExceeded].contains(error.code) {
            return error.message
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

    /// Retries documents that couldn't be stored as rows: the program may be a newer one.
    func retryUnreadable(_ row: SyncRemoteRow, _ tx: WriteTransaction) throws {
        for document in try bases.unreadable(in: tx.database) {
            if try isUnreceived(document.documentId, in: tx.database) { continue }
            try rewriteRow(document.documentId, since: row.since, tx)
        }
    }

    /// Whether the remote's document can't be written as JSON, so that it isn't stored and can't be retried: what is stored is
    /// the row.
    private func isUnreceived(_ id: String, in db: Database) throws -> Bool {
        guard try outbox.firstPending(of: id, in: db) == nil, case .known(let base) = try bases.base(of: id, in: db)
        else { return false }
        return try shows(base, as: id, in: db)
    }

    private func rewriteRow(_ id: String, since: Int64, _ tx: WriteTransaction) throws {
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
    /// The reason of commits that contain received changes.
    static let receive = "receive"

    /// The reason in commits.
    ///
    /// - Parameter hasGone: Whether documents are gone that no change mentions.
    fileprivate func reason(hasGone: Bool) -> String {
        if rewind != nil { return "the remote was restored" }
        return changes.isEmpty && !hasGone ? "send" : Self.receive
    }
}
