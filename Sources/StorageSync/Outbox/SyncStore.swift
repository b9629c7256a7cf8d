internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// The documents of one engine in a store, with the store's knowledge of their remote.
///
/// Invariants:
/// 1. Each change of the documents is sent, whoever made it and how, except for the engine's own commits and rows that
///    a query source has fetched. What to send is read from the log: the events after ``SyncRemoteRow/scanned``. So a
///    write is pending from the moment it is committed, and nothing else has to be written.
/// 2. Each commit of the engine first reads the log up to itself, and then moves `scanned` past itself. So a write's
///    base is the known state of the remote when it was made, and the engine's commits are never mistaken for writes.
/// 3. A document is the remote's state with the unsent writes on top, in their order.
///
/// Isolation: a value; each method is one read or one transaction of the store.
struct SyncStore<T: DataSyncModelProtocol>: Sendable {
    let storage: Storage
    let manager: String
    let path: String
    let table: DocumentTable<T>
    let outbox: OutboxTable
    let bases: BaseTable
    let versions: VersionTable
    let unnamed: UnnamedTable
    let resolution: ConflictResolution<T>
    /// Whether positions are the remote's own. Those of a service are counted here, and restart at 0 when everything is
    /// requested again.
    let hasRemotePositions: Bool

    /// - Parameter resolution: How to handle documents that are changed on both sides.
    init(
        storage: Storage, manager: String, path: String, resolution: ConflictResolution<T> = .lastWriterWins,
        hasRemotePositions: Bool = false
    ) {
        self.storage = storage
        self.manager = manager
        self.path = path
        self.resolution = resolution
        self.hasRemotePositions = hasRemotePositions
        table = .of(manager: manager)
        outbox = OutboxTable(manager: manager, path: path, entity: table.entity)
        bases = BaseTable(manager: manager, path: path)
        versions = VersionTable(manager: manager, path: path)
        unnamed = UnnamedTable(manager: manager, path: path)
    }

    /// The state with which a driver begins, and continues after a save.
    struct State: Sendable {
        var row: SyncRemoteRow
        /// Set when the store is opened.
        var rows: [PendingWrite] = []
        /// Documents of the remote that can't be stored as rows, the first by id.
        var unreadable: [SyncStatus.UnreadableDocument] = []
        /// Whether the state differs from a core's decisions, so that a new core must continue from it.
        var needsNewCore = false
    }

    /// The actor of the engine's commits.
    private var actor: String { "sync \(manager)" }

    /// Whether a commit contains changes that the engine has received.
    func isReceived(_ commit: CommitMetadata) -> Bool {
        commit.actor == actor && commit.reason == SyncTransaction.receive
    }

    /// Runs a transaction of the engine as one commit.
    func commit<Result: Sendable>(
        reason: String, attributes: @escaping @Sendable (Database) throws -> [String: String] = { _ in [:] },
        _ body: @escaping @Sendable (WriteTransaction) throws -> Result
    ) async throws -> Result {
        try await storage.engine.withWriter { writer, db in
            try writer.group(db) {
                let attributes = try attributes(db)
                return try commit(with: writer, in: db, reason: reason, attributes: attributes, body)
            }
        }
    }

    /// Makes a commit of the engine, as part of the current transaction.
    func commit<Result>(
        with writer: LogWriter, in db: Database, reason: String, attributes: [String: String],
        _ body: (WriteTransaction) throws -> Result
    ) throws -> Result {
        let metadata = CommitMetadata(
            actor: actor, app: CommitContext.app, reason: reason, attributes: attributes)
        var result: Result?
        _ = try writer.commit(metadata) { result = try body(WriteTransaction(writer: writer, database: db)) }
        guard let result else { throw StorageError.closed() }
        return result
    }

    func store(_ row: inout SyncRemoteRow, _ tx: WriteTransaction) throws {
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
                // Nothing that was pulled belongs to this one.
                try restartPull(&row, in: db)
            }
            try dropDiscarded(row, tx)
            if row.isCleared {
                for document in try outbox.pendingDocuments(in: db) {
                    try write(try replayed(document, since: row.since, tx), on: nil, of: document, tx)
                }
                // Everything else is requested again.
                try restartPull(&row, in: db)
            }
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
    private func state(_ row: SyncRemoteRow, in db: Database) throws -> State {
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

    /// Removes the documents from the table, whichever path they belong to: nobody may be signed in any more.
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
            let size = try table.get(id, db).map { try DocumentFields(encoding: $0).json.utf8.count } ?? 0
            return PendingWrite(
                position: position, document: DocumentID(entity: table.entity, id: id), kind: .save, size: size, base: 0
            )
        }
    }
}

// MARK: Reading

/// The combined operation of the writes of one origin.
struct OutgoingWrite: Sendable {
    let document: String
    let operation: DocumentOperation
    let isConditional: Bool
    let base: Int64
    /// Identifies it among those of all stores, see ``RemoteWrite/idempotencyKey``.
    let key: String
}

extension SyncStore {
    /// The writes after the engine's last commit, and after a position.
    func written(since row: SyncRemoteRow, behind position: Int64) async throws -> [PendingWrite] {
        try await storage.engine.read { db in
            let connection = try db.connection
            let reader = LogReader(connection)
            return try written(since: row, behind: position, reader, try Catalog.load(connection), in: db)
        }
    }

    func written(since row: SyncRemoteRow, _ tx: WriteTransaction) throws -> [PendingWrite] {
        let reader = LogReader(tx.writer.database)
        return try written(since: row, behind: row.scanned, reader, tx.writer.catalog, in: tx.database)
    }

    private func written(
        since row: SyncRemoteRow, behind position: Int64, _ reader: LogReader, _ catalog: Catalog, in db: Database
    ) throws -> [PendingWrite] {
        let found = try WriteScan(entity: table.entity, id: table.id).writes(
            behind: max(row.scanned, position), base: row.record.position, reader, catalog)
        guard !found.isEmpty, try SyncTables.exist(in: db) else { return found.map(\.write) }
        return try found.map { write, metadata in
            var write = write
            write.isConditional = resolution.isConditional || SyncPreconditionAttribute.isStated(in: metadata)
            write.base = max(write.base, try versions.version(of: write.document.id, in: db))
            return write
        }
    }

    /// The last saved state; nil if another path has replaced this one.
    func load() async throws -> State? {
        try await storage.engine.read { db in
            guard let row = try SyncRemoteRow.all(of: manager, in: db).first(where: { $0.path == path }), row.isActive
            else { return nil }
            return try state(row, in: db)
        }
    }

    /// The operations of outbox writes for the remote, by origin.
    ///
    /// - Parameter rows: Rows that were read for the previous batch.
    func outgoingWrites(
        of origins: [Int64], since: Int64, rows: RecentRows
    ) async throws -> (writes: [Int64: OutgoingWrite], rows: RecentRows) {
        try await storage.engine.read { db in
            let documents = try documentReader(db, rows: rows)
            let lineage = try StoreLineage.load(documents.database)
            var writes: [Int64: OutgoingWrite] = [:]
            for origin in origins {
                let line = Hexadecimal.text(lineage.line(of: origin).id)
                for write in try outbox.writes(of: origin, in: db) {
                    let operation = try documents.operation(of: write, since: since)
                    writes[origin] = OutgoingWrite(
                        document: write.document.id,
                        operation: writes[origin]?.operation.followed(by: operation) ?? operation,
                        isConditional: write.isConditional, base: write.base,
                        key: "\(line).\(origin)\(write.retries > 0 ? ".\(write.retries)" : "")")
                }
            }
            return (writes, documents.rows)
        }
    }

    func documentReader(_ db: Database, rows: RecentRows = RecentRows()) throws -> DocumentReader<T> {
        let connection = try db.connection
        return DocumentReader(
            table, connection, catalog: try Catalog.load(connection), upcasts: storage.upcasts, rows: rows)
    }

    /// Inside a transaction of the engine.
    func documentReader(_ tx: WriteTransaction) -> DocumentReader<T> {
        DocumentReader(table, tx.writer.database, catalog: tx.writer.catalog, upcasts: storage.upcasts)
    }

    /// The known state of a document with unsent writes at the remote, and the position at which somebody else last
    /// changed it.
    func remoteDocument(
        _ id: String, since: Int64
    ) async throws -> (fields: DocumentFields?, changePosition: Int64) {
        try await storage.engine.read { db in
            (
                try base(of: id, since: since, in: db, documentReader(db)),
                try bases.changePosition(of: id, in: db)
            )
        }
    }

    /// The ids of documents that match a query; none without a query.
    func ids(of ids: [String], foundBy query: QueryEvaluation?) async throws -> [String] {
        guard let query else { return [] }
        return try await storage.engine.read { db in
            try ids.filter { id in
                try table.get(id, db).map { query.matches(try JSONValue(encoding: $0)) } ?? false
            }
        }
    }

    /// The ids of all documents.
    func ids() async throws -> [String] {
        try await storage.engine.read { try table.positions($0).map(\.id) }
    }
}

// MARK: Documents

extension SyncStore {
    /// Why a document can't be stored as a row; nil if it can.
    func unreadable(_ id: String) async throws -> String? {
        try await storage.engine.read { try bases.unreadableReason(of: id, in: $0) }
    }

    /// Whether the table contains the documents of this path.
    func isActive(in db: Database) throws -> Bool {
        try SyncRemoteRow.all(of: manager, in: db).contains { $0.path == path && $0.isActive }
    }

    /// Which documents an engine shows.
    enum Extent: Sendable, Equatable {
        case all
        case document(String?)
    }

    /// What an engine shows before its first use, read on the calling thread; nil if the store has nothing for this
    /// path.
    ///
    /// - Parameter extent: If it names no document, the one that was last listened to.
    func shownNow(_ extent: Extent) throws -> (extent: Extent, documents: [T])? {
        try storage.engine.readNow { db in
            guard let row = try SyncRemoteRow.all(of: manager, in: db).first(where: { $0.path == path }), row.isActive
            else { return nil }
            let extent = extent == .document(nil) ? Extent.document(row.document) : extent
            return (extent, try documents(extent, db))
        }
    }

    /// What an engine shows, and the log position as of which it was read.
    func shown(_ extent: Extent) async throws -> (documents: [T], head: Int64) {
        try await storage.engine.read { db in
            let connection = try db.connection
            return (try documents(extent, db), try LogReader(connection).head().position)
        }
    }

    private func documents(_ extent: Extent, _ db: Database) throws -> [T] {
        switch extent {
        case .all: try table.all(db)
        case .document(let id): try id.flatMap { try table.get($0, db) }.map { [$0] } ?? []
        }
    }

    /// Some documents by their ids; nil for missing ones.
    func documents(_ ids: [String]) async throws -> [(id: String, document: T?)] {
        try await shown(ids).documents
    }

    /// Some documents by their ids, and the log position as of which they were read.
    func shown(_ ids: [String]) async throws -> (documents: [(id: String, document: T?)], head: Int64) {
        try await storage.engine.read { db in
            let connection = try db.connection
            return (try ids.map { ($0, try table.get($0, db)) }, try LogReader(connection).head().position)
        }
    }
}

extension CatalogEntity {
    /// The names and types of its columns.
    fileprivate var schema: String { live.map { "\($0.id) \($0.name) \($0.type)" }.joined(separator: ", ") }
}
