internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// The documents of one engine in a store, with the store's knowledge of their remote.
///
/// Invariants:
/// 1. Each change of the documents is sent, no matter by whom or how, except for the engine's own commits and rows that a query source has fetched.
///    What to send is read from the log: the events after ``SyncRemoteRow/scanned``. So a write is pending from the moment it is committed, and
///    nothing else has to be written.
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
