internal import GRDB
internal import StorageCore
public import StorageEntities
internal import StorageHistory
public import StorageLog

/// Consecutive events of the log, as passed to a projection.
///
/// An inline projection gets each commit as one batch. Otherwise a batch has about as many events as were requested,
/// and may end inside a large commit; transactions always end with a whole commit.
///
/// Not `Sendable`: it is valid inside ``Projection/apply(_:_:)`` only.
public struct ProjectionBatch {
    /// The range of the log that the batch covers. Its positions without an event in ``events`` belong to other
    /// entities.
    public let positions: ClosedRange<Int64>
    /// Whether the batch is replayed history: in a rebuild, after a reset, or for a new projection.
    public let isReplay: Bool
    let rowEvents: [RowEvent]
    let catalog: Catalog
    let resolver: RowResolver

    /// The events of the projection's entities, in their order.
    public var events: [StorageEvent] { rowEvents.map { $0.event(catalog) } }

    /// The changed rows of a table, each once, in the order of their first change.
    ///
    /// Rows have the current columns: one that was added later holds its default, a converted one its converted value.
    /// Rows that were inserted and deleted again within the batch are left out.
    ///
    /// - Throws: `StorageError` with `not-found` for a table that the projection doesn't read; errors of reading the
    ///   log.
    public func changes(of table: String) throws -> [RowChange] {
        try netEvents(of: table).map { try resolver.named($0) }
    }

    /// Like ``changes(of:)-(String)``, as entities.
    ///
    /// - Throws: An error if a row can't be read as the entity.
    public func changes<E: RegisteredEntity>(of type: E.Type) throws -> [EntityChange<E>] {
        try netEvents(of: E.Record.databaseTableName).map { try resolver.typed($0, as: type) }
    }

    /// Each event as a change of a whole row, in the order of the log. It includes rows that were inserted and deleted
    /// again.
    ///
    /// Use ``changes(of:)-(String)`` if the intermediate states of a row don't matter: it has fewer changes.
    ///
    /// - Throws: Errors of reading the log.
    public func steps() throws -> [RowChange] { try steps { _ in nil }.map(\.change) }

    /// - Parameter columns: The columns of a table that are needed, by their names; all if nil.
    func steps(_ columns: (CatalogEntity) -> Set<String>?) throws -> [(event: RowEvent, change: RowChange)] {
        var steps: [(event: RowEvent, change: RowChange)] = []
        steps.reserveCapacity(rowEvents.count)
        for (_, events) in rowEvents.grouped(by: \.row) {
            for (event, step) in zip(events, try resolver.whole(events)) {
                let wanted = catalog.entity(id: step.row.entity).flatMap(columns)
                steps.append((event, try resolver.named(step, only: wanted)))
            }
        }
        return steps.sorted { $0.event.position < $1.event.position }
    }

    private func netEvents(of table: String) throws -> [RowEvent] {
        let ids = Set(catalog.entities.filter { $0.name.utf8.elementsEqual(table.utf8) }.map(\.id))
        return try rowEvents.lazy.filter { ids.contains($0.row.entity) }.grouped(by: \.row)
            .compactMap { try resolver.net($0.elements) }
    }
}
