internal import GRDB
internal import StorageCore
public import StorageLog

/// Events that follow one another in the log, as a projection is given them.
///
/// An inline projection gets each commit as one batch. Otherwise a batch holds about as many events as were asked for,
/// and a batch may end inside a large commit; what becomes durable together always ends with a whole commit.
///
/// Not `Sendable`: it is valid inside ``Projection/apply(_:_:)`` only.
public struct ProjectionBatch {
    /// The part of the log that the batch stands for. Positions in it without an event below are of other entities.
    public let positions: ClosedRange<Int64>
    /// Whether this is history that is read again: in a rebuild, after a reset, or for a projection that is new.
    public let isReplay: Bool
    let rowEvents: [RowEvent]
    let catalog: Catalog
    let images: RowImages

    /// The events of the projection's entities, in their order.
    public var events: [StorageEvent] { rowEvents.map { $0.event(catalog) } }

    /// What becomes of the rows of a table, each told once, in the order of their first change.
    ///
    /// Rows come by the columns of now: one that was added later holds its default, a converted one its converted value.
    /// Rows that came and went within the batch aren't told.
    public func changes(of table: String) throws -> [RowChange] {
        try rows(of: table).map { row in
            RowChange(
                table: row.entity.name, key: row.key,
                old: try row.before.map { try images.named($0, row.entity, row.key) },
                new: try row.after.map { try images.named($0, row.entity, row.key) }, position: row.position)
        }
    }

    /// Like ``changes(of:)-(String)``, as entities.
    ///
    /// - Throws: Where a row can't be read as the entity.
    public func changes<E: RegisteredEntity>(of type: E.Type) throws -> [EntityChange<E>] {
        try rows(of: E.Record.databaseTableName).map { row in
            EntityChange(
                old: try row.before.map { try images.entity(type, $0, row.entity, row.key) },
                new: try row.after.map { try images.entity(type, $0, row.entity, row.key) }, position: row.position)
        }
    }

    private func rows(of table: String) throws -> [RowImages.Change] {
        var places: [RowEvent.Row: Int] = [:]
        var rows: [[RowEvent]] = []
        let ids = Set(catalog.entities.filter { $0.name.utf8.elementsEqual(table.utf8) }.map(\.id))
        for event in rowEvents where ids.contains(event.row.entity) {
            if let place = places[event.row] {
                rows[place].append(event)
            } else {
                places[event.row] = rows.count
                rows.append([event])
            }
        }
        return try rows.compactMap { try images.change($0) }
    }
}
