internal import GRDB
public import StorageCore
public import StorageEntities
internal import StorageHistory
public import StorageLog
internal import StorageProjections
internal import StorageSQLiteClient
package import StorageViews

/// A store, which saves, reads and deletes entities, and reads their history.
///
/// Every change is an event in the log before the call returns. Calls from any tasks may overlap. Concurrent writes share one
/// wait for the disk, and each is a separate commit.
///
/// Every call that reads or writes throws ``StorageError``: `closed` if the store is closed, `unusable` after a disk failure
/// until the store is opened again, and `not-found` if an entity has no table because it wasn't declared when the store was
/// opened. Calls that write throw `read-only` if the store is open for reading only, `overloaded` if
/// ``StorageConfig/maximumQueuedWrites`` are waiting, `clock-ahead` at a time that is too far in the future, `io-error` if the
/// disk fails or is full, and what the calls of ``WriteTransaction`` throw. A call that throws has changed nothing.
///
/// Isolation: `Sendable`, a reference to the open store; copies share it.
public struct Storage: Sendable {
    package let engine: StorageEngine
    /// The store's configuration, including the settings of caches and encoders.
    public var config: StorageConfig { engine.configuration }
    let caches = EntityCaches()
    let snapshots: SnapshotCache
    /// The program's column conversions, by title.
    package var upcasts: [String: Upcast] { snapshots.upcasts }
    let searchIndexes = SearchIndexes()
    /// The query sources that are shown.
    package let refreshes = SharedSourceRegistry()
    let runtime: ProjectionRuntime
    /// The engine that keeps subscriptions up to date.
    package let subscriptions: SubscriptionEngine

    package init(
        engine: StorageEngine, runtime: ProjectionRuntime, upcasts: [String: Upcast] = [:]
    ) {
        self.engine = engine
        self.runtime = runtime
        snapshots = SnapshotCache(upcasts: upcasts)
        subscriptions = SubscriptionEngine(LiveSource(engine))
    }

    /// Closes the store as soon as the current writes and projection batches have ended; later calls throw `closed`.
    ///
    /// - Throws: ``StorageError`` with `io-error` if the disk fails; the store is closed anyway.
    public func close() async throws {
        await runtime.stop()
        try await engine.close()
    }

    /// The position of the last event that was in the store when it was opened, or that this object has committed since.
    public var head: Int64 { engine.committed.position }
}

// MARK: Saving

extension Storage {
    /// Saves one entity: inserts it, or updates the row with its id. Saving an unchanged entity writes nothing.
    ///
    /// ```swift
    /// let receipt = try await storage.save(User(id: "1", name: "Anna"))
    /// ```
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    @discardableResult
    public func save<E: RegisteredEntity>(_ entity: E) async throws -> CommitReceipt {
        try await write { try $0.save(entity) }
    }

    /// Saves entities as one commit.
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    @discardableResult
    public func save<E: RegisteredEntity>(_ entities: [E]) async throws -> CommitReceipt {
        try await write { try $0.save(entities) }
    }

    /// Saves an entity only if its row meets a precondition: see ``getWithPosition(_:id:)``.
    ///
    /// - Throws: ``StorageError`` with `conflict` if the row doesn't meet it; nothing is changed then. Also as ``Storage``
    ///   says.
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
    /// Writes of several tasks share transactions, but each succeeds or fails on its own. `body` may run more than once: it is
    /// undone and run again if it delays the other writes for too long, or if another write has ended the transaction. So it
    /// must change nothing but the store.
    ///
    /// - Parameters:
    ///   - actor: Who makes the change; the task-local ``CommitContext/actor`` if nil. The same holds for `app` and
    ///     `correlation`.
    ///   - idempotencyKey: Identifies the write: if a commit with this key already exists, nothing is done and its receipt is
    ///     returned. Keys that begin with `storagekit.schema/` are reserved for migrations.
    ///   - attributes: More about the commit, by names of your choice. Names that begin with `storagekit.` are reserved, and so are
    ///     `sync.rows`, `sync.expecting`, `hub.producer` and `hub.origin`.
    /// - Returns: The receipt, with the position of the commit in the log. The commit is in the store's file when the call
    ///   returns.
    /// - Throws: What `body` throws; ``StorageError`` as ``Storage`` says; also `invalid-argument` for a key of migrations, for the
    ///   name of an attribute that is reserved, or if the call is made inside a body of the store's `sqliteClient` and would wait for it.
    @discardableResult
    public func write(
        actor: String? = nil, app: String? = nil, reason: String? = nil, correlation: String? = nil,
        idempotencyKey: String? = nil, attributes: [String: String] = [:],
        _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws -> CommitReceipt {
        // A migration of this name would count as done.
        guard idempotencyKey?.utf8.starts(with: SchemaStep.keyPrefix.utf8) != true else {
            throw StorageError(
                .invalidArgument, "Idempotency keys that begin with \(SchemaStep.keyPrefix) are those of migrations.",
                remedy: "Give the write another key.")
        }
        try ReservedNames.check(attributes: attributes.keys)
        let metadata = CommitMetadata(
            actor: actor ?? CommitContext.actor, app: app ?? CommitContext.app, reason: reason,
            correlation: correlation ?? CommitContext.correlation, idempotencyKey: idempotencyKey,
            attributes: attributes)
        return try await commit(metadata, body)
    }

    /// Makes a commit whose attributes may be the library's own.
    package func commit(
        _ metadata: CommitMetadata, _ body: @escaping @Sendable (WriteTransaction) throws -> Void
    ) async throws -> CommitReceipt {
        try checkWaitsForNoBody(writes: true)
        return try await engine.commit(metadata) { writer, db in
            try body(WriteTransaction(writer: writer, database: db))
        }
    }

    /// Makes several changes as one commit, and returns the result of `body` with the receipt.
    ///
    /// ```swift
    /// let (count, receipt) = try await storage.write { tx in
    ///     try tx.save(user)
    ///     return try tx.count(User.self)
    /// }
    /// ```
    ///
    /// It works like ``write(actor:app:reason:correlation:idempotencyKey:attributes:_:)``, but takes no idempotency key,
    /// because there would be no value to return for a commit that isn't repeated.
    ///
    /// - Returns: The result of `body` in the run that was committed, and the commit's receipt.
    /// - Throws: What `body` throws; ``StorageError`` as ``Storage`` says; also `invalid-argument` for the name of an attribute that
    ///   is reserved, or if the call is made inside a body of the store's `sqliteClient` and would wait for it.
    @discardableResult
    public func write<Value: Sendable>(
        actor: String? = nil, app: String? = nil, reason: String? = nil, correlation: String? = nil,
        attributes: [String: String] = [:], _ body: @escaping @Sendable (WriteTransaction) throws -> Value
    ) async throws -> (value: Value, receipt: CommitReceipt) {
        try ReservedNames.check(attributes: attributes.keys)
        let metadata = CommitMetadata(
            actor: actor ?? CommitContext.actor, app: app ?? CommitContext.app, reason: reason,
            correlation: correlation ?? CommitContext.correlation, attributes: attributes)
        return try await commit(metadata, returning: body)
    }

    /// Makes a commit whose attributes may be the library's own, and returns the result of `body` with the receipt.
    package func commit<Value: Sendable>(
        _ metadata: CommitMetadata, returning body: @escaping @Sendable (WriteTransaction) throws -> Value
    ) async throws -> (value: Value, receipt: CommitReceipt) {
        let outcome = Outcome<Value>()
        let receipt = try await commit(metadata) { outcome.value = try body($0) }
        guard let value = outcome.value else { throw StorageError.closed() }
        return (value, receipt)
    }
}

/// Carries the result out of a commit's body.
private final class Outcome<Value>: @unchecked Sendable {
    // Sound: written in the commit's body, which has returned for the last time before anybody reads it.
    var value: Value?
}

extension Storage {
    /// Checks that this call wouldn't deadlock: a store in memory has one connection in all, any other store has one that writes.
    ///
    /// - Throws: `invalid-argument` if the call would wait for the body of `sqliteClient` in which the task is running.
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
    /// Deletes the row with this id; does nothing if there is none.
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    @discardableResult
    public func delete<E: RegisteredEntity>(_ type: E.Type, id: E.Id) async throws -> CommitReceipt {
        try await write { try $0.delete(type, id: id) }
    }

    /// Deletes an entity's row.
    ///
    /// - Throws: ``StorageError`` as ``Storage`` says.
    @discardableResult
    public func delete<E: RegisteredEntity>(_ entity: E) async throws -> CommitReceipt {
        try await write { try $0.delete(entity) }
    }

    /// Deletes every row of an entity, as one commit.
    ///
    /// - Returns: The number of deleted entities, not counting rows that foreign keys deleted or changed.
    /// - Throws: ``StorageError`` as ``Storage`` says.
    @discardableResult
    public func deleteAll<E: RegisteredEntity>(_ type: E.Type) async throws -> Int {
        try await write { tx in try tx.deleteAll(type) as Int }.value
    }

    /// Deletes the rows whose column holds a value, as one commit.
    ///
    /// - Returns: The number of deleted entities, not counting rows that foreign keys deleted or changed.
    /// - Throws: ``StorageError`` with `invalid-name` for a column that the entity doesn't have; also as ``Storage`` says.
    @discardableResult
    public func deleteAll<E: RegisteredEntity, Value: StorageColumnValue>(
        _ type: E.Type, where column: String, equals value: Value
    ) async throws -> Int {
        try await write { tx in try tx.deleteAll(type, where: column, equals: value) as Int }.value
    }
}
