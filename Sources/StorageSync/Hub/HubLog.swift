internal import Foundation
internal import GRDB
internal import StorageCore
internal import StorageKit
internal import StorageLog

/// A hub's log and tables as one read sees them.
///
/// Not `Sendable`: it lives as long as the read.
struct HubLog {
    let database: OpaquePointer
    let reader: LogReader
    let catalog: Catalog
    let head: Int64

    init(_ db: Database) throws {
        guard let connection = db.sqliteConnection else { throw StorageError.closed() }
        database = connection
        reader = LogReader(connection)
        catalog = try Catalog.load(connection)
        head = try reader.head().position
    }

    func table(_ name: String) -> HubTable? { catalog.entity(named: name).flatMap(HubTable.init) }

    /// Who made the event at a position; nil for a write of the hub's own program.
    /// - Complexity: O(1), and fast for positions in their order: those of a segment are read together.
    func source(at position: Int64) throws -> HubSource? {
        guard let outline = try reader.outline(containing: position) else {
            throw StorageError.corruptLog("position @\(position) is missing")
        }
        return HubSource(outline.commit(ofEvent: Int(position - outline.header.first)).metadata)
    }

    /// The net change of each document over a part of the log, by position.
    ///
    /// - Parameters:
    ///   - position: Behind it the part begins.
    ///   - last: Where it ends at the latest.
    ///   - entities: By name; all where nil.
    ///   - limit: The most events that are read.
    /// - Returns: The changes, and up to where they reach.
    func changes(
        behind position: Int64, through last: Int64, of entities: Set<String>? = nil, limit: Int
    ) throws -> (changes: [HubChange], end: Int64) {
        var rows: [RowKey: [StorageEvent]] = [:]
        var end = last
        var count = 0
        if position < last {
            var query = LogQuery(tables: entities)
            query.positions = (position + 1)...last
            try reader.forEachEvent(query, catalog: catalog) { batch, index, commit in
                guard count < limit else {
                    // What stands here begins the next part.
                    end = batch.header.first + Int64(index) - 1
                    return false
                }
                count += 1
                let event = batch.event(at: index, catalog: catalog, commit: commit)
                guard event.key.count == 1, let key = event.key.first?.value else { return true }
                rows[RowKey(entity: event.table, key: ExactValue(key)), default: []].append(event)
                return true
            }
        }
        var tables: [String: HubTable?] = [:]
        var changes: [HubChange] = []
        for (row, events) in rows {
            let table = tables[row.entity] ?? table(row.entity)
            tables[row.entity] = .some(table)
            guard let table, let change = try change(of: row.key.value, in: table, events, end: end) else { continue }
            changes.append(change)
        }
        changes.sort { $0.position < $1.position }
        return (changes, end)
    }

    private struct RowKey: Hashable {
        let entity: String
        let key: ExactValue
    }

    /// - Parameter events: The row's own, in order; at least one.
    private func change(
        of key: StorageValue, in table: HubTable, _ events: [StorageEvent], end: Int64
    ) throws -> HubChange? {
        guard let last = events.last, let id = table.id(of: key) else { return nil }
        let new: HubTable.Row?
        if last.operation == .delete {
            new = nil
        } else if end == head {
            new = try table.row(key, in: database)?.row
        } else {
            new = try reader.image(of: [key], in: table.entity, at: end).map { table.row(key, $0) }
        }
        var old = new
        for event in events.reversed() {
            switch event.operation {
            case .insert: old = nil
            case .update: for field in event.old ?? [] { old?.set(field, in: table) }
            case .delete: old = table.row(before: event)
            }
        }
        guard old != nil || new != nil else { return nil }
        return HubChange(
            table: table, id: id, position: last.position, old: old, new: new, source: HubSource(last.commit.metadata))
    }
}

extension HubTable.Row {
    fileprivate mutating func set(_ field: StorageEvent.Field, in table: HubTable) {
        if let index = table.index(of: field.column) { values[index] = field.value }
    }
}
