internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog
internal import StorageProjections

/// The documents of one engine in a store, with what the store knows of their remote.
///
/// Always true:
/// 1. Each change of the documents is sent, whoever made it and in whichever way, apart from the engine's own commits. What is to be
///    sent is read from the log: the events behind ``SyncRemoteRow/scanned``. So a write is pending from the moment that it is
///    committed, and nothing has to be written beside it.
/// 2. Each commit of the engine reads the log up to itself first, and moves `scanned` behind itself. So a write's base is what the
///    remote was known to have when it was made, and the engine's commits are never taken for somebody's writes.
/// 3. A document is what the remote has of it, and the unsent writes on top of it, in their order.
///
/// Isolation: a value; each method is one read or one transaction of the store.
struct SyncStore<T: DataSyncModelProtocol>: Sendable {
    let storage: Storage
    let manager: String
    let path: String
    let table: DocumentTable<T>
    let outbox: OutboxTable
    let bases: BaseTable

    init(storage: Storage, manager: String, path: String) {
        self.storage = storage
        self.manager = manager
        self.path = path
        table = .of(manager: manager)
        outbox = OutboxTable(manager: manager, path: path, entity: table.entity)
        bases = BaseTable(manager: manager, path: path)
    }

    /// What a driver begins with, or goes on with after a save.
    struct State: Sendable {
        var row: SyncRemoteRow
        /// As of opening.
        var rows: [PendingWrite] = []
    }

    /// One transaction of the engine.
    private func commit<Result: Sendable>(
        reason: String, attributes: @escaping @Sendable (Database) throws -> [String: String] = { _ in [:] },
        _ body: @escaping @Sendable (WriteTransaction) throws -> Result
    ) async throws -> Result {
        let actor = "sync \(manager)"
        return try await storage.engine.withWriter { writer, db in
            try writer.group(db) {
                let metadata = CommitMetadata(
                    actor: actor, app: StorageContext.app, reason: reason, attributes: try attributes(db))
                var result: Result?
                _ = try writer.commit(metadata) {
                    result = try body(WriteTransaction(writer: writer, database: db))
                }
                guard let result else { throw StorageError.closed() }
                return result
            }
        }
    }

    private func store(_ row: inout SyncRemoteRow, _ tx: WriteTransaction) throws {
        row.scanned = tx.writer.nextPosition - 1
        row.line = try StoreLineage.load(tx.writer.database).line(of: row.scanned).id
        row.revision += 1
        try row.save(manager: manager, entity: table.entity, in: tx.database)
    }
}

// MARK: Beginning

extension SyncStore {
    /// Makes this path the one whose documents are in the table.
    ///
    /// What another path had there is taken away; its unsent writes stay in its outbox. Documents that are in the table before it
    /// is used by an engine for the first time become unsent writes.
    ///
    /// - Throws: `misuse` where another engine keeps its documents in the same table.
    func activate(document: String? = nil) async throws -> State {
        try await commit(reason: "synchronise \(path)") { tx in
            let db = tx.database
            try SyncTables.create(in: db)
            try table.declare(tx.writer)
            if table.isOwn, let other = try SyncRemoteRow.otherManager(of: table.entity, than: manager, in: db) {
                throw StorageError(
                    .misuse, "\"\(table.entity)\" is synchronised by the engine \"\(other)\" already.",
                    remedy: "Use one engine for each entity, or give both the same manager key.")
            }
            let known = try SyncRemoteRow.all(of: manager, in: db)
            var row = try known.first { $0.path == path }.map { try valid($0, tx) } ?? SyncRemoteRow(path: path)
            if known.isEmpty {
                row.since = tx.writer.nextPosition - 1
                try outbox.save(existing(in: db), in: db)
            } else if let other = known.first(where: { $0.isActive && $0.path != path }) {
                try SyncStore(storage: storage, manager: manager, path: other.path).deactivate(other, tx)
                row.isCleared = true
            } else if row.isActive {
                try outbox.save(written(since: row, in: tx.writer), in: db)
            }
            if row.isCleared {
                for document in try outbox.pendingDocuments(in: db) {
                    try write(try replayed(document, since: row.since, tx), of: document, tx)
                }
                // Everything else is asked for again.
                row.record.position = 0
            }
            row.isActive = true
            row.isCleared = false
            row.document = document ?? row.document
            try store(&row, tx)
            return State(row: row, rows: try outbox.all(in: db))
        }
    }

    /// Takes the documents out of the table; unsent writes stay in the outbox.
    func clear() async throws {
        try await commit(reason: "clear \(path)") { tx in
            guard let row = try SyncRemoteRow.all(of: manager, in: tx.database).first(where: { $0.path == path }),
                row.isActive
            else { return }
            var cleared = row
            try empty(&cleared, tx)
            cleared.document = nil
            try store(&cleared, tx)
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
        try outbox.save(written(since: row, in: tx.writer), in: tx.database)
        for (id, _) in try table.positions(tx.database) { try table.delete(id, tx) }
        row.isCleared = true
    }

    /// What a store that was put back to an earlier point, or is a copy that went on, still knows: it can't tell what it has pulled
    /// since then, so everything is asked for again.
    private func valid(_ row: SyncRemoteRow, _ tx: WriteTransaction) throws -> SyncRemoteRow {
        let lineage = try StoreLineage.load(tx.writer.database)
        let head = tx.writer.nextPosition - 1
        guard row.scanned > head || (!row.line.isEmpty && row.line != lineage.line(of: row.scanned).id) else {
            return row
        }
        let shared = min(head, lineage.lines.last.map { $0.fork } ?? 0)
        var fresh = SyncRemoteRow(path: path)
        fresh.since = min(row.since, shared)
        fresh.scanned = min(row.scanned, shared)
        fresh.isActive = row.isActive
        fresh.document = row.document
        fresh.revision = row.revision
        try outbox.removeAll(behind: shared, in: tx.database)
        try bases.removeAll(in: tx.database)
        return fresh
    }

    /// The documents that were there before the engine.
    private func existing(in db: Database) throws -> [PendingWrite] {
        try table.positions(db).map { id, position in
            let size = try table.get(id, db).map { try DocumentFields(encoding: $0).json.utf8.count } ?? 0
            return PendingWrite(
                position: position, document: DocumentID(entity: table.entity, id: id), size: size, base: 0)
        }
    }
}

// MARK: Reading

extension SyncStore {
    /// What was written behind the last commit of the engine.
    func written(since row: SyncRemoteRow) async throws -> [PendingWrite] {
        try await storage.engine.read { db in
            guard let connection = db.sqliteConnection else { throw StorageError.closed() }
            return try written(since: row, LogReader(connection), try Catalog.load(connection))
        }
    }

    private func written(since row: SyncRemoteRow, in writer: LogWriter) throws -> [PendingWrite] {
        try written(since: row, LogReader(writer.database), writer.catalog)
    }

    private func written(
        since row: SyncRemoteRow, _ reader: LogReader, _ catalog: Catalog
    ) throws -> [PendingWrite] {
        var query = LogQuery(tables: [table.entity])
        query.positions = (row.scanned + 1)...Int64.max
        var writes: [PendingWrite] = []
        try reader.forEachEvent(query, catalog: catalog) { batch, index, commit in
            let event = batch.event(at: index, catalog: catalog, commit: commit)
            guard let id = table.id(event.key) else { return true }
            writes.append(
                PendingWrite(
                    position: event.position, document: DocumentID(entity: table.entity, id: id), size: event.size,
                    base: row.record.position))
            return true
        }
        return writes
    }

    /// What was saved last; nil where another path has taken the place of this one.
    func load() async throws -> State? {
        try await storage.engine.read { db in
            guard let row = try SyncRemoteRow.all(of: manager, in: db).first(where: { $0.path == path }), row.isActive
            else { return nil }
            return State(row: row, rows: try outbox.all(in: db))
        }
    }

    /// What writes of the outbox are to do to the remote, by position.
    func operations(
        at positions: [Int64], since: Int64
    ) async throws -> [Int64: (document: String, operation: DocumentOperation)] {
        try await storage.engine.read { db in
            guard let connection = db.sqliteConnection else { throw StorageError.closed() }
            let reader = LogReader(connection)
            let catalog = try Catalog.load(connection)
            var operations: [Int64: (document: String, operation: DocumentOperation)] = [:]
            for position in positions {
                guard let write = try outbox.write(at: position, in: db) else { continue }
                let operation = try operation(of: write, since: since, reader, catalog)
                operations[position] = (write.document.id, operation)
            }
            return operations
        }
    }

    private func operation(
        of write: PendingWrite, since: Int64, _ reader: LogReader, _ catalog: Catalog
    ) throws -> DocumentOperation {
        let id = write.document.id
        let (image, previous) = try reader.image(ofEventAt: write.position)
        let new = try fields(of: id, image, reader, catalog)
        // Written before there was an engine: nobody but this store knows anything of it.
        if write.position <= since { return DocumentOperation(from: nil, to: new) }
        return DocumentOperation(from: try fields(of: id, before: previous, reader, catalog), to: new)
    }

    private func fields(
        of id: String, before previous: Int64, _ reader: LogReader, _ catalog: Catalog
    ) throws -> DocumentFields? {
        guard previous > 0 else { return nil }
        return try fields(of: id, try reader.image(ofEventAt: previous).image, reader, catalog)
    }

    private func fields(
        of id: String, _ image: RowImage?, _ reader: LogReader, _ catalog: Catalog
    ) throws -> DocumentFields? {
        guard let image, let entity = catalog.entity(named: table.entity) else { return nil }
        return try DocumentFields(encoding: table.document(id, image, entity, reader.database))
    }

    /// The ids of all documents.
    func ids() async throws -> [String] {
        try await storage.engine.read { try table.positions($0).map(\.id) }
    }
}

// MARK: Documents

extension SyncStore {
    /// Which documents an engine shows.
    enum Extent: Sendable, Equatable {
        case all
        case document(String?)
    }

    /// What an engine shows that hasn't been used yet, on the calling thread; nil where the store has nothing of this path.
    func shownNow(_ extent: Extent) throws -> (document: String?, documents: [T])? {
        try storage.engine.readNow { db in
            guard let row = try SyncRemoteRow.all(of: manager, in: db).first(where: { $0.path == path }), row.isActive
            else { return nil }
            let extent = extent == .document(nil) ? Extent.document(row.document) : extent
            return (row.document, try documents(extent, db))
        }
    }

    /// What an engine shows, and up to which position of the log.
    func shown(_ extent: Extent) async throws -> (documents: [T], head: Int64) {
        try await storage.engine.read { db in
            guard let connection = db.sqliteConnection else { throw StorageError.closed() }
            return (try documents(extent, db), try LogReader(connection).head().position)
        }
    }

    private func documents(_ extent: Extent, _ db: Database) throws -> [T] {
        switch extent {
        case .all: try table.all(db)
        case .document(let id): try id.flatMap { try table.get($0, db) }.map { [$0] } ?? []
        }
    }

    /// Some documents by their ids; nil for those that there aren't.
    func documents(_ ids: Set<String>) async throws -> [(id: String, document: T?)] {
        try await storage.engine.read { db in try ids.map { ($0, try table.get($0, db)) } }
    }
}

// MARK: Saving

extension SyncStore {
    /// Somebody else has saved since the state was read: it says nothing any more.
    struct Outdated: Error {}

    /// Saves what a core has decided, if nobody has saved since the state.
    ///
    /// - Returns: The state from now on; its `rows` are writes that were found on the way. Its record is another than the core's
    ///   where the remote was put back: a new core goes on from it.
    func save(_ transaction: SyncTransaction, after state: State) async throws -> State {
        try await commit(reason: transaction.reason, attributes: { try conflicts(of: transaction, in: $0) }) { tx in
            let db = tx.database
            guard var row = try SyncRemoteRow.all(of: manager, in: db).first(where: { $0.path == path }), row.isActive,
                row.revision == state.row.revision
            else { throw Outdated() }
            let written = try written(since: row, in: tx.writer)
            try outbox.save(written, in: db)
            try apply(transaction, to: row, tx)
            row.record = transaction.record
            if transaction.rewind != nil { try forget(&row, tx) }
            try store(&row, tx)
            return State(row: row, rows: written)
        }
    }

    private func apply(_ transaction: SyncTransaction, to row: SyncRemoteRow, _ tx: WriteTransaction) throws {
        let db = tx.database
        let since = row.since
        let reader = LogReader(tx.writer.database)
        // What the remote has of each document that it concerns.
        var documents: [String: DocumentFields?] = [:]
        func change(_ id: String, _ operation: DocumentOperation) throws {
            var document: DocumentFields?
            if let known = documents[id] {
                document = known
            } else if try !operation.replaces || !outbox.pending(of: id, in: db).isEmpty {
                document = try base(of: id, since: since, reader, tx)
            }
            operation.apply(to: &document)
            documents.updateValue(document, forKey: id)
        }
        let ownChanges = Set(transaction.changes.compactMap(\.ownOrigin))
        for position in transaction.removed {
            guard let write = try outbox.write(at: position, in: db) else { continue }
            let isApplied = !write.isParked && !write.isConfirmed && !ownChanges.contains(position)
            try change(
                write.document.id,
                isApplied ? operation(of: write, since: since, reader, tx.writer.catalog) : .nothing)
            try outbox.remove(position, in: db)
        }
        for write in transaction.writes where write.isConfirmed && !ownChanges.contains(write.position) {
            guard let before = try outbox.write(at: write.position, in: db), !before.isConfirmed else { continue }
            try change(
                write.document.id, operation(of: write, since: since, reader, tx.writer.catalog))
        }
        for remote in transaction.changes { try change(remote.document.id, DocumentOperation(remote.operation)) }
        try outbox.save(transaction.writes, in: db)
        let received = Set(transaction.changes.lazy.filter { $0.ownOrigin == nil }.map(\.document.id))
        for (id, document) in documents {
            let shown = try put(document, of: id, since: since, reader, tx)
            // A document that was taken out of the store stays out when a write of it is confirmed.
            if row.isCleared, !received.contains(id), try table.get(id, db) == nil { continue }
            try write(shown, of: id, tx)
        }
    }

    /// The remote was put back to an earlier state: what was received is asked for again from its beginning.
    private func forget(_ row: inout SyncRemoteRow, _ tx: WriteTransaction) throws {
        try outbox.limitBases(to: 0, in: tx.database)
        try bases.removeAll(in: tx.database)
        let pending = Set(try outbox.pendingDocuments(in: tx.database))
        for (id, _) in try table.positions(tx.database) where !pending.contains(id) { try table.delete(id, tx) }
        row.record.position = 0
    }

    /// Saves what the remote has of a document.
    ///
    /// - Returns: The document with its unsent writes.
    private func put(
        _ base: DocumentFields?, of id: String, since: Int64, _ reader: LogReader, _ tx: WriteTransaction
    ) throws -> DocumentFields? {
        let pending = try outbox.pending(of: id, in: tx.database)
        if pending.isEmpty {
            try bases.remove(id, in: tx.database)
        } else {
            try bases.save(base, of: id, in: tx.database)
        }
        var document = base
        for write in pending {
            try operation(of: write, since: since, reader, tx.writer.catalog).apply(to: &document)
        }
        return document
    }

    /// A document as it is with its unsent writes.
    private func replayed(_ id: String, since: Int64, _ tx: WriteTransaction) throws -> DocumentFields? {
        let reader = LogReader(tx.writer.database)
        var document = try base(of: id, since: since, reader, tx)
        for write in try outbox.pending(of: id, in: tx.database) {
            try operation(of: write, since: since, reader, tx.writer.catalog).apply(to: &document)
        }
        return document
    }

    /// What the remote has of a document, as far as is known here.
    private func base(
        of id: String, since: Int64, _ reader: LogReader, _ tx: WriteTransaction
    ) throws -> DocumentFields? {
        guard let first = try outbox.pending(of: id, in: tx.database).first else {
            return try table.get(id, tx.database).map { try DocumentFields(encoding: $0) }
        }
        switch try bases.base(of: id, in: tx.database) {
        case .known(let fields): return fields
        case .unchanged where first.position <= since: return nil
        case .unchanged:
            let previous = try reader.image(ofEventAt: first.position).previous
            return try fields(of: id, before: previous, reader, tx.writer.catalog)
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

    /// How many of them a commit names.
    private static var namedConflicts: Int { 20 }

    /// Says in the history which documents were changed on both sides.
    private func conflicts(of transaction: SyncTransaction, in db: Database) throws -> [String: String] {
        var ids: [String] = []
        for change in transaction.changes where change.ownOrigin == nil && ids.count < Self.namedConflicts {
            let id = change.document.id
            if !ids.contains(id), try !outbox.pending(of: id, in: db).isEmpty { ids.append(id) }
        }
        return ids.isEmpty ? [:] : ["conflicts": ids.joined(separator: " ")]
    }
}

extension SyncTransaction {
    /// As commits say it.
    fileprivate var reason: String {
        if rewind != nil { return "the remote was put back" }
        return changes.isEmpty ? "send" : "receive"
    }
}

extension StorageEvent {
    /// About how many bytes its values take.
    fileprivate var size: Int {
        (key + (new ?? old ?? [])).reduce(0) { total, field in
            switch field.value {
            case .text(let text): total + text.utf8.count
            case .blob(let data): total + data.count
            case .null, .integer, .real: total + 8
            }
        }
    }
}
