internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// Which path has its documents in the table: paths are activated, cleared, deactivated and started over.
extension SyncStore {
    /// Makes this path the one whose documents are in the table.
    ///
    /// Documents of another path are removed; its unsent writes stay in its outbox. Documents that are in the table
    /// before an engine first uses it become unsent writes.
    ///
    /// - Throws: `invalid-argument` if another engine keeps its documents in the same table.
    func activate(document: String? = nil) async throws -> State {
        try await commit(reason: "synchronise \(path)", attributes: discardAttributes) { tx in
            let db = tx.database
            try SyncTables.create(in: db)
            try table.declare(tx.writer)
            if table.isOwn, let other = try SyncRemoteRow.otherManager(of: table.entity, than: manager, in: db) {
                throw StorageError(
                    .invalidArgument, "\"\(table.entity)\" is synchronised by the engine \"\(other)\" already.",
                    remedy: "Use one engine for each entity, or give both the same manager key.")
            }
            let known = try SyncRemoteRow.all(of: manager, in: db)
            var row = try known.first { $0.path == path }.map { try valid($0, tx) } ?? SyncRemoteRow(path: path)
            if known.isEmpty {
                row.since = tx.writer.nextPosition - 1
                try outbox.save(existing(tx), in: db)
            } else if let other = known.first(where: { $0.isActive && $0.path != path }) {
                try ofPath(other.path).deactivate(other, tx)
                row.isCleared = true
            } else if row.isActive {
                try outbox.add(written(since: row, tx), in: db)
            }
            let schema = tx.writer.catalog.entity(named: table.entity)?.schema ?? ""
            if row.schema != schema {
                // The known state of the remote has the old column names. It is requested again.
                try bases.removeAll(in: db)
                if !row.schema.isEmpty { try restartPull(&row, in: db) }
                row.schema = schema
            }
            if let document, document != row.document {
                // Nothing that was pulled belongs to this document.
                try restartPull(&row, in: db)
            }
            try dropDiscarded(row, tx)
            if row.isCleared {
                let documents = documentReader(tx)
                for id in try outbox.pendingDocuments(in: db) {
                    let base = try base(of: id, since: row.since, in: db, documents)
                    try write(try replayed(id, on: base, since: row.since, documents, in: db), on: base, of: id, tx)
                }
                // Everything else is requested again.
                try restartPull(&row, in: db)
            }
            try showRecreated(by: try outbox.recreating(in: db), row, tx)
            try retryUnreadable(row, tx)
            row.isActive = true
            row.isCleared = false
            row.document = document ?? row.document
            try store(&row, tx)
            return try state(row, in: db)
        }
    }

    private func ofPath(_ path: String) -> SyncStore {
        SyncStore(
            storage: storage, manager: manager, path: path, resolution: resolution,
            hasRemotePositions: hasRemotePositions)
    }

    /// Includes the writes of the outbox.
    func state(_ row: SyncRemoteRow, in db: Database) throws -> State {
        State(row: row, rows: try outbox.all(in: db), unreadable: try unreadable(in: db))
    }

    func unreadable(in db: Database) throws -> [SyncStatus.UnreadableDocument] {
        try bases.unreadable(limit: SyncStatus.namedUnreadableDocuments, in: db)
    }

    /// Makes the next pull start from the beginning.
    func restartPull(_ row: inout SyncRemoteRow, in db: Database) throws {
        row.record.position = 0
        try versions.removeAll(in: db)
        try unnamed.removeAll(in: db)
        if !hasRemotePositions { try outbox.limitBases(to: 0, in: db) }
    }

    /// Removes the documents from the table; unsent writes stay in the outbox.
    func clear() async throws {
        try await commit(reason: "clear \(path)") { tx in
            guard let row = try SyncRemoteRow.all(of: manager, in: tx.database).first(where: { $0.path == path }),
                row.isActive
            else { return }
            try clear(row, tx)
        }
    }

    private func clear(_ row: SyncRemoteRow, _ tx: WriteTransaction) throws {
        var cleared = row
        try empty(&cleared, tx)
        // Documents requested from now on aren't in the table.
        try restartPull(&cleared, in: tx.database)
        cleared.document = nil
        try store(&cleared, tx)
    }

    /// Removes the documents from the table, whichever path they belong to: possibly no user is signed in any more.
    ///
    /// - Returns: Whether the table had documents of a path.
    static func clearActive(
        in storage: Storage, manager: String, resolution: ConflictResolution<T>
    ) async throws -> Bool {
        let active = try await storage.engine.read { db in
            try SyncRemoteRow.all(of: manager, in: db).first(where: \.isActive)?.path
        }
        guard let active else { return false }
        try await SyncStore(storage: storage, manager: manager, path: active, resolution: resolution).clear()
        return true
    }

    /// Starts over as another producer with a remote that has halted the engine, knowing nothing about it. Waiting
    /// writes are sent to it. The outcome of writes that were being sent, or were accepted and not pulled, can't be
    /// determined any more: they are parked.
    ///
    /// - Parameter hasLostWrites: Whether the remote may have lost accepted writes.
    func startOver(hasLostWrites: Bool) async throws {
        try await commit(reason: "start over \(path)") { tx in
            let db = tx.database
            guard var row = try SyncRemoteRow.all(of: manager, in: db).first(where: { $0.path == path }), row.isActive
            else { return }
            try outbox.add(written(since: row, tx), in: db)
            let hadConfirmed = try outbox.startOver(in: db)
            row.record = SyncRecord(after: row.record, hasLostWrites: hasLostWrites && hadConfirmed)
            row.generation += 1
            try restartPull(&row, in: db)
            try outbox.limitBases(to: 0, in: db)
            try store(&row, tx)
        }
    }

    private func deactivate(_ row: SyncRemoteRow, _ tx: WriteTransaction) throws {
        var row = row
        try empty(&row, tx)
        row.isActive = false
        try store(&row, tx)
    }

    private func empty(_ row: inout SyncRemoteRow, _ tx: WriteTransaction) throws {
        row = try valid(row, tx)
        try outbox.add(written(since: row, tx), in: tx.database)
        for (id, _) in try table.positions(tx.database) { try table.delete(id, tx) }
        row.isCleared = true
    }

    /// The part of a row that is still valid in a store that was restored to an earlier point, or in a diverged copy:
    /// it doesn't know what it has pulled since, so everything is requested again.
    private func valid(_ row: SyncRemoteRow, _ tx: WriteTransaction) throws -> SyncRemoteRow {
        let lineage = try StoreLineage.load(tx.writer.database)
        guard let shared = row.sharedEnd(lineage, head: tx.writer.nextPosition - 1) else {
            guard !row.line.isEmpty, row.line != lineage.lines.last?.id else { return row }
            // A diverged copy uses numbers of its own.
            var renumbered = row
            (renumbered.record.lastNumber, renumbered.record.settledNumber) = (0, 0)
            return renumbered
        }
        var fresh = SyncRemoteRow(path: path)
        fresh.since = min(row.since, shared)
        fresh.scanned = min(row.scanned, shared)
        fresh.isActive = row.isActive
        fresh.document = row.document
        fresh.revision = row.revision
        fresh.generation = row.generation
        try outbox.removeAll(behind: shared, in: tx.database)
        try bases.removeAll(in: tx.database)
        try restartPull(&fresh, in: tx.database)
        return fresh
    }

    /// The documents that existed before the engine, except those fetched from a remote.
    private func existing(_ tx: WriteTransaction) throws -> [PendingWrite] {
        let db = tx.database
        let documents = try table.positions(db)
        let fetched = FetchedPositions(LogReader(tx.writer.database))
        // In log order, so that no segment is read twice.
        let positions = Set(try documents.map(\.position).sorted().filter(fetched.includes))
        return try documents.filter { !positions.contains($0.position) }.map { id, position in
            PendingWrite(
                position: position, document: DocumentID(entity: table.entity, id: id), kind: .save,
                size: try size(of: id, in: db), base: 0)
        }
    }

    /// The size of a document as it is sent; 0 if it can't be: then its write is parked when its turn comes.
    private func size(of id: String, in db: Database) throws -> Int {
        do {
            return try table.get(id, db).map { try DocumentFields(encoding: $0).json.utf8.count } ?? 0
        } catch let error as StorageError where error.code == .invalidValue {
            return 0
        }
    }
}

extension CatalogEntity {
    /// The names and types of its columns.
    fileprivate var schema: String { live.map { "\($0.id) \($0.name) \($0.type)" }.joined(separator: ", ") }
}
