public import GRDB
public import StorageLog

/// Derived state of your own: tables that follow the log, such as totals, denormalised lists or exports.
///
/// ```swift
/// struct OrderTotals: Projection {
///     let name = "order_totals"
///     let version = 1
///     let entities = ["orders"]
///
///     func prepare(_ db: Database) throws {
///         try db.execute(sql: "CREATE TABLE order_totals(customer TEXT PRIMARY KEY, cents INTEGER NOT NULL)")
///     }
///
///     func apply(_ batch: ProjectionBatch, _ db: Database) throws {
///         for change in try batch.changes(of: Order.self) { … }
///     }
/// }
/// ```
///
/// It is declared when the store is opened: `schema.addProjection(OrderTotals(), mode: .async)`.
///
/// Its rows must follow from the events alone, so that it can be rebuilt at any time: no clock, no network, no reading
/// of entity tables, which may be ahead of the batch. The same history must give the same rows however it is split into
/// batches; `ProjectionConformance` in `StorageTesting` checks that.
///
/// Isolation: `Sendable`; ``prepare(_:)`` and ``apply(_:_:)`` are called on the store's writer, one at a time, with its
/// connection. They block every commit while they run.
public protocol Projection: Sendable {
    /// The name that identifies it in the store. Don't change it.
    var name: String { get }
    /// The version of its tables and rules. Increase it whenever they change: then the old tables are dropped, and the
    /// projection is rebuilt from the log.
    var version: Int { get }
    /// The tables of the entities whose events it reads, by their current names; all entities if empty.
    var entities: [String] { get }

    /// Creates its tables, with indexes and initial rows. They belong to it: other writes to them are refused, and the
    /// store drops them when the projection is rebuilt, so that nothing has to be undone here.
    ///
    /// Names that begin with `storage_` are refused.
    ///
    /// - Throws: Any error, which fails the opening of the store or the rebuild.
    func prepare(_ db: GRDB.Database) throws
    /// Applies the next batch of events, atomically together with the checkpoint.
    ///
    /// - Parameter db: The connection, for the projection's own tables. A change of an entity's table is refused.
    /// - Throws: Any error, which rolls the batch back and is handled by the ``FailurePolicy``.
    func apply(_ batch: ProjectionBatch, _ db: GRDB.Database) throws
}

extension Projection {
    /// All entities.
    public var entities: [String] { [] }
}

/// A projection with side effects outside the store, such as sending a message.
///
/// ```swift
/// struct OrderMails: SideEffectingProjection {
///     let name = "order_mails"
///     let version = 1
///     let entities = ["orders"]
///
///     func prepare(_ db: Database) throws {}
///     func apply(_ batch: ProjectionBatch, _ db: Database) throws {}
///
///     func committed(_ events: [StorageEvent]) async {
///         for event in events where event.operation == .insert { await sendMail(about: event.key) }
///     }
/// }
/// ```
///
/// The store calls it once the events are durable, and at most once: a crash in between loses the call. It is never
/// called for history that is replayed: in a rebuild, after a reset, or when the projection is new to a store.
public protocol SideEffectingProjection: Projection {
    /// Called after events have been applied and committed, in their order, one call at a time. Closing the store waits
    /// for it to return.
    ///
    /// Meanwhile further events wait in the log, not in memory, however long it takes.
    func committed(_ events: [StorageEvent]) async
}
