internal import GRDB
public import StorageCore
public import StorageEntities
internal import StorageHistory
public import StorageLog
internal import StorageProjections
internal import StorageSQLiteClient
package import StorageViews

/// A store: saves, reads and deletes entities, and reads their history.
///
/// Every change is an event of the log before the call returns. Calls from any task may overlap; those that write at
/// the same time share one wait for the disk, each being its own commit.
///
/// Isolation: `Sendable`, a reference to the open store; copies share it.
public struct Storage: Sendable {
    package let engine: StorageEngine
    /// How the store was opened, and what caches and encoders are made with.
    public var config: StorageConfig { engine.configuration }
    let caches = EntityCaches()
    let snapshots: SnapshotCache
    /// What the program's conversions of columns do, by their titles.
    package var upcasts: [String: Upcast] { snapshots.upcasts }
    let searchIndexes = SearchIndexes()
    /// Its query sources, where some are shown.
    package let refreshes = SourceRefreshes()
    let runtime: ProjectionRuntime
    /// What keeps subscriptions up to date.
    package let subscriptions: SubscriptionEngine

    package init(
        engine: StorageEngine, runtime: ProjectionRuntime, upcasts: [String: Upcast] = [:]
    ) {
        self.engine = engine
        self.runtime = runtime
        snapshots = SnapshotCache(upcasts: upcasts)
        subscriptions = SubscriptionEngine(LiveSource(engine))
    }

    /// Closes the store after the writes and the projections' batches under way; later calls throw `closed`.
    public func close() async throws {
        await runtime.stop()
        try await engine.close()
    }

    /// The position of the last event that this store object has committed or seen at opening.
    public var head: Int64 { engine.committed.position }
}

// MARK: Saving

extension Storage {
    /// Saves one entity: inserts it, or updates the row with its id. Saving what is there already writes nothing.
    @discardableResult
    public func save<E: RegisteredEntity>(_ entity: E) async throws -> CommitReceipt {
        try await write { try $0.save(entity) }
    }

    /// Saves entities as one commit.
    @discardableResult
    public func save<E: RegisteredEntity>(_ entities: [E]) async throws -> CommitReceipt {
        try await write { try $0.save(entities) }
    }

    /// Saves an entity only if its row is as expected.
    ///
    /// - Throws: ``StorageError`` with `conflict` where it isn't; nothing is changed then.
    @discardableResult
    public func save<E: RegisteredEntity>(_ entity: E, expecting expected: RowPrecondition) async throws
        -> CommitReceipt
    {
        try await write { try $0.save(entity, expecting: expected) }
    }

    /// Makes several changes as one commit: all of them are stored, or, if `body` throws, none.
    ///
    /// ```swift
    /// let receipt = try await storage.write(actor: "anna", reason: "merge accounts") { tx in
    ///     try tx.save(kept)
    ///     try tx.delete(User.self, id: merged.id)
    /// }
    /// ```
    ///
    /// Writes of several tasks share transactions, each with its own outcome. `body` may run more than once: it is undone and runs
    /// again where it takes longer than others should wait, or where another write has ended the transaction. So let it
    /// change nothing but the store.
    ///
    /// - Parameters:
    ///   - actor: Who makes the change; the task-local ``CommitContext/actor`` where nil. Likewise `correlation`.
    ///   - idempotencyKey: Where a commit with this key exists already, nothing is done and its receipt is returned.
    /// - Returns: The position of the commit in the log. The store's file has it when the call returns.
    /// - Throws: What `body` throws; ``StorageError`` with `invalid-argument` inside of a body of the store's `sqliteClient` that it would wait
    ///   for.
    @discardableResult
    public func write(
        actor: String? = nil, app: String? = nil, reason: String? = nil, correlation: String? = nil,
        idempotencyKey: String? = nil, attributes: [String: String] = [:],
        _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws -> CommitReceipt {
        try checkWaitsForNoBody(writes: true)
        let metadata = CommitMetadata(
            actor: actor ?? CommitContext.actor, app: app ?? CommitContext.app, reason: reason,
            correlation: correlation ?? CommitContext.correlation, idempotencyKey: idempotencyKey,
            attributes: attributes)
        return try await engine.commit(metadata) { writer, db in
            try body(WriteTransaction(writer: writer, database: db))
        }
    }
}

extension Storage {
    /// A store in memory has one connection, another store one that writes.
    ///
    /// - Throws: `invalid-argument` where this would wait for a body of `sqliteClient` that the task runs in.
    func checkWaitsForNoBody(writes: Bool) throws {
        let hasOneConnection = engine.pool is GRDB.DatabaseQueue
        guard writes || hasOneConnection,
            HeldTransaction.isHolding(engine, countingReaders: hasOneConnection)
        else { return }
        throw StorageError(
            .invalidArgument, "A body of the store's `sqliteClient` has called the store, which waits for the body.",
            remedy: "Use the client inside the body, or the store before or after it.")
    }
}

// MARK: Deleting

extension Storage {
    /// Deletes the row with this id; does nothing where there is none.
    @discardableResult
    public func delete<E: RegisteredEntity>(_ type: E.Type, id: E.Id) async throws -> CommitReceipt {
        try await write { try $0.delete(type, id: id) }
    }

    /// Deletes an entity's row.
    @discardableResult
    public func delete<E: RegisteredEntity>(_ entity: E) async throws -> CommitReceipt {
        try await write { try $0.delete(entity) }
    }

    /// Deletes every row of an entity, as one commit.
    ///
    /// - Returns: How many rows were deleted.
    @discardableResult
    public func deleteAll<E: RegisteredEntity>(_ type: E.Type) async throws -> Int {
        try await write { try $0.deleteAll(type) }.changedRows
    }

    /// Deletes the rows whose column holds a value, as one commit.
    ///
    /// - Returns: How many rows were deleted, with the rows that foreign keys took along.
    @discardableResult
    public func deleteAll<E: RegisteredEntity, Value: StorageColumnValue>(
        _ type: E.Type, where column: String, equals value: Value
    ) async throws -> Int {
        try await write { try $0.deleteAll(type, where: column, equals: value) }.changedRows
    }
}

extension CommitReceipt {
    fileprivate var changedRows: Int { commit == nil ? 0 : eventCount }
}
